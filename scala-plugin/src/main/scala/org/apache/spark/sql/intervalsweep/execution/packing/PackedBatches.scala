// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.packing

import java.util.Arrays

/**
 * Packs the rows of batches, column by column.
 *
 * {{{
 *   partition of each row   0 1 0 0 1
 *   its place there         7 3 8 9 4
 *   a column                a b c d e      of packer 0 at 7: a c d, of packer 1 at 3: b e
 * }}}
 */
private[packing] final class PackedBatches(
    rows: BatchedRows,
    hashed: HashedBatch,
    packing: ShufflePacking)
    extends PackedChunks(packing) {
  import packing.{numFields, partitions}

  private val width = PackedFormat.words(numFields)
  private val flags = width - numFields
  private val counts = new Array[Int](partitions)
  private val nextPlaces = new Array[Int](partitions)
  private var places = Array.emptyIntArray

  /** One column of each packer. */
  private val columns = new Array[Array[Long]](partitions)

  /** The partitions from this one on may have a full packer. */
  private var unchecked = partitions

  override protected def fill(): Boolean = {
    if (unchecked == partitions && rows.batch != null) pack(rows.batch)
    while (full < 0 && unchecked < partitions) {
      if (isFull(unchecked)) full = unchecked
      unchecked += 1
    }
    full >= 0 || rows.batch != null
  }

  private def pack(batch: RowBatch): Unit = {
    val to = hashed.partitions(batch)
    addRows(to, batch.numRows)
    (0 until flags).foreach(setZero(_, to, batch.numRows))
    (0 until numFields).foreach(addField(batch, _, to))
    setZero(width, to, batch.numRows)
    if (batch.hasTexts) addTexts(batch, to)
    rows.skip(batch.numRows)
    unchecked = 0
  }

  /** Adds `n` rows to their packers, and finds the place of each. */
  private def addRows(to: Array[Int], n: Int): Unit = {
    if (places.length < n) places = new Array[Int](n)
    Arrays.fill(counts, 0)
    var i = 0
    while (i < n) { counts(to(i)) += 1; i += 1 }
    var p = 0
    while (p < partitions) {
      if (counts(p) > 0) nextPlaces(p) = packer(p).addRows(counts(p))
      p += 1
    }
    i = 0
    while (i < n) {
      places(i) = nextPlaces(to(i))
      nextPlaces(to(i)) += 1
      i += 1
    }
  }

  private def select(column: Int): Unit = {
    var p = 0
    while (p < partitions) {
      if (packers(p) != null) columns(p) = packers(p).column(column)
      p += 1
    }
  }

  private def setZero(column: Int, to: Array[Int], n: Int): Unit = {
    select(column)
    var i = 0
    while (i < n) { columns(to(i))(places(i)) = 0L; i += 1 }
  }

  private def addField(batch: RowBatch, field: Int, to: Array[Int]): Unit = {
    if (batch.words(field) != null)
      addWords(flags + field, batch.words(field), hashed.masks(field), to, batch.numRows)
    val nulls = batch.nulls(field)
    var i = 0
    while (nulls != null && i < batch.numRows) {
      if (nulls(i)) packers(to(i)).setNull(field, places(i))
      i += 1
    }
  }

  private def addWords(
      column: Int,
      words: Array[Long],
      mask: Long,
      to: Array[Int],
      n: Int): Unit = {
    select(column)
    var i = 0
    while (i < n) { columns(to(i))(places(i)) = words(i) & mask; i += 1 }
  }

  private def addTexts(batch: RowBatch, to: Array[Int]): Unit = {
    var i = 0
    while (i < batch.numRows) { packers(to(i)).addTexts(batch, i, places(i)); i += 1 }
  }
}
