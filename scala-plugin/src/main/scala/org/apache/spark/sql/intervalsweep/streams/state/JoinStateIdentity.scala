// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import java.io.{ByteArrayOutputStream, DataOutputStream}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors

/**
 * What the state of a join of streams is written for.
 *
 * @param hash  by which it is known again, also with fewer columns
 * @param texts what it is a hash of, by name: of another join it is said what differs. States of the
 *              first format have none
 */
final case class JoinStateIdentity(hash: Int, texts: Seq[(String, String)]) {

  /** The texts as they are kept. */
  @transient lazy val packed: Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    out.writeInt(texts.size)
    for ((name, text) <- texts; some <- Seq(name, text)) {
      val encoded = some.getBytes(UTF_8)
      out.writeInt(encoded.length)
      out.write(encoded)
    }
    bytes.toByteArray
  }

  /** Fails if a state was written for something else. */
  def check(found: JoinStateIdentity): Unit = if (found.hash != hash) {
    val before = found.texts.toMap
    val differing = texts.collectFirst {
      case (name, now) if before.get(name).exists(_ != now) => (name, before(name), now)
    }
    val (name, written, now) = differing.getOrElse(
      (
        texts.map(_._1).mkString(" or "),
        "another one, which an earlier version has not noted",
        texts.map(_._2).mkString("; ")))
    StreamErrors.stateMismatch(name, written, now)
  }
}

object JoinStateIdentity {

  /** Of heads of states: one has the texts, too. */
  private[streams] val Format = 2

  /** Fails if a state is of a later version. */
  private[streams] def checkFormat(format: Int): Unit =
    if (format < 1 || format > Format) StreamErrors.stateFormat(format, Format)

  /** What a state of some format was written for; the texts are what is next in it. */
  private[streams] def read(format: Int, hash: Int, buffer: ByteBuffer): JoinStateIdentity = {
    def text(): String = {
      val bytes = new Array[Byte](buffer.getInt())
      buffer.get(bytes)
      new String(bytes, UTF_8)
    }
    val size = if (format == 1) 0 else buffer.getInt()
    JoinStateIdentity(hash, Seq.fill(size)((text(), text())))
  }
}
