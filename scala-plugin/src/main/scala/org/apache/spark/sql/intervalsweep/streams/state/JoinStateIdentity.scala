// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import java.io.{ByteArrayOutputStream, DataOutputStream}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors

/**
 * Identifies the join that wrote a state.
 *
 * @param hash  the fingerprint. [[JoinSchemaEvolution]] finds forms with fewer columns by it
 * @param texts the hashed texts, by name, so that an error can say what differs. States of format 1
 *              have no texts
 */
final case class JoinStateIdentity(hash: Int, texts: Seq[(String, String)]) {

  /** The texts in their stored form. */
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

  /** Fails if another join wrote the state. */
  def check(found: JoinStateIdentity): Unit = if (found.hash != hash) {
    val before = found.texts.toMap
    val differing = texts.collectFirst {
      case (name, now) if before.get(name).exists(_ != now) => (name, before(name), now)
    }
    val (name, written, now) = differing.getOrElse(
      (
        texts.map(_._1).mkString(" or "),
        "unknown (an earlier version did not record it)",
        texts.map(_._2).mkString("; ")))
    StreamErrors.stateMismatch(name, written, now)
  }
}

object JoinStateIdentity {

  /** The format of state metadata: format 2 has the texts, format 1 has only the hash. */
  private[streams] val Format = 2

  /** Fails if a later version wrote the state. */
  private[streams] def checkFormat(format: Int): Unit =
    if (format < 1 || format > Format) StreamErrors.stateFormat(format, Format)

  /** Reads the identity from a buffer that is positioned at the texts. */
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
