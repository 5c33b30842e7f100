// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.periods

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.intervalsweep.execution.block.BlockMemory
import org.apache.spark.sql.intervalsweep.execution.packing.InBatches

/**
 * All rows of a task in one chunk, if there is memory for them. It keeps only the numbers of the
 * rows, by column, and sorts them by radix.
 * {{{
 *   keys    x y x z y x ...     as they come
 *   group   0 1 0 2 1 0 ...     one number per distinct key
 *   sorted  0 0 0 1 1 2 ...     sent in portions of equal size; a group may be in several
 * }}}
 *
 * @param limits the section of time that the task processes; periods are clipped to it
 */
private[periods] final class InMemoryPeriods(
    settings: PeriodSettings,
    rows: Iterator[InternalRow],
    limits: (Long, Long),
    override val chunk: PeriodChunk,
    memory: BlockMemory,
    context: TaskContext)
    extends PeriodInput {
  import InMemoryPeriods._

  private lazy val columns = new KeyReader(settings.columns, limits)
  private val keys = new KeyNumbers(chunk.keys, memory)

  /**
   * The memory reserved for the sort that takes over if the rows do not fit. The sort starts while
   * the chunk is still there. Without memory it would spill hundreds of small files, and read them
   * later.
   */
  private val sortBytes: Long = {
    val wanted = PagesOfSort * SparkEnv.get.memoryManager.pageSizeBytes
    if (memory.tryReserve(wanted)) wanted else 0L
  }

  var from = 0
  var size = 0
  var goesOn = false

  /**
   * True if there is room for all rows. Otherwise some of them have not been read yet: see [[all]].
   */
  val areAll: Boolean = gather()

  /** The rows before this one are in portions. */
  private val inPortions: Int =
    if (areAll && mayHaveSingles) chunk.moveSingles() else chunk.size
  if (areAll) {
    memory.release(sortBytes)
    chunk.sort(inPortions)
  }

  private def gather(): Boolean = {
    var isFull = !gatherBatches()
    while (!isFull && rows.hasNext) {
      if (!hasRoom()) isFull = true
      else {
        add(rows.next())
        if (chunk.size % RowsPerCheck == 0) context.killTaskIfInterrupted()
      }
    }
    numberGroups()
    if (chunk.size == 0 && settings.isOfEmpty && chunk.hasRoom()) {
      // A row with an empty period: the group exists, and has nothing in it.
      chunk.keys.add(new UnsafeRow(0))
      chunk.add(0, _ => 0L)
    }
    !isFull
  }

  /** Takes the rows by column if that is possible. Returns true unless the next ones do not fit. */
  private def gatherBatches(): Boolean = rows match {
    case batches: InBatches => settings.columns.words.forall { case (words, numbers) =>
        var hasRoom = true
        while (hasRoom && batches.batch != null) {
          hasRoom = add(batches, words, numbers)
          context.killTaskIfInterrupted()
        }
        hasRoom
      }
    case _ => true
  }

  /** Takes the rest of a batch, if there is room. */
  private def add(batches: InBatches, words: KeyWords, numbers: Array[Int]): Boolean = {
    val (batch, first) = (batches.batch, batches.position)
    val n = batch.numRows - first
    chunk.hasRoom(n) && keys.hasRoom(n, n * words.width) && {
      keys.numberAll(batch, words, first, n, chunk.groups, chunk.size)
      chunk.addAll(batch, numbers, first, n)
      chunk.clip(limits, n)
      batches.skip(n)
      true
    }
  }

  private def add(row: InternalRow): Unit = {
    columns.take(row)
    chunk.add(InMemoryPeriods.NotNumbered, columns.number)
    keys.offer(columns.keys(row))
    if (keys.isFull) numberGroups()
  }

  /** Finds the groups of the last rows. */
  private def numberGroups(): Unit =
    keys.numberOffered(chunk.groups, chunk.size - keys.offered)

  private def hasRoom(): Boolean = chunk.hasRoom() && keys.hasRoom()

  override def advance(): Boolean = {
    from += size
    size = math.min(settings.chunkRows, inPortions - from)
    val next = from + size
    goesOn = size > 0 && next < inPortions && chunk.groups(next - 1) == chunk.groups(next)
    size > 0
  }

  private def mayHaveSingles: Boolean =
    settings.copiesOfSingle.isDefined && chunk.keys.size > chunk.size / RowsPerSingle

  override val singles: Range = inPortions until chunk.size

  /**
   * All rows, in the form of [[PeriodSettings.narrow]], for the case that they do not fit. Can be
   * read once.
   */
  def all: Iterator[InternalRow] = {
    val narrow = new NarrowRows(settings.columns)
    val kept = Iterator.range(0, chunk.size).map { i =>
      narrow.of(chunk.keys(chunk.groups(i)), chunk.numbers(_)(i))
    }
    memory.release(sortBytes)
    kept ++ {
      chunk.free()
      keys.release()
      rows.map(narrow.of)
    }
  }
}

private[periods] object InMemoryPeriods {

  /** The rows in memory if they fit. Otherwise all rows, sorted by Spark, which spills. */
  def orSorted(
      settings: PeriodSettings,
      rows: Iterator[InternalRow],
      limits: (Long, Long),
      context: TaskContext): PeriodInput = {
    val memory = settings.memory(context)
    def chunk(mostRows: Int): PeriodChunk =
      new PeriodChunk(2 + settings.numbers.size, mostRows, memory)
    val most = chunk(PeriodSettings.GatheredBatches * settings.batchRows)
    val gathered = new InMemoryPeriods(settings, rows, limits, most, memory, context)
    if (gathered.areAll) gathered
    else {
      val narrow = settings.narrow
      new SpilledPeriods(
        narrow,
        new HashedRows(narrow, gathered.all, limits, context),
        chunk(PeriodSettings.MostChunks * settings.chunkRows))
    }
  }

  private val RowsPerCheck = 1 << 12

  /** With more rows per key, few keys have one row. */
  private val RowsPerSingle = 16

  /** The group of a row until it is known. */
  private val NotNumbered = -1

  /** One page for rows, and one for the pointers to them that are sorted. */
  private val PagesOfSort = 2
}
