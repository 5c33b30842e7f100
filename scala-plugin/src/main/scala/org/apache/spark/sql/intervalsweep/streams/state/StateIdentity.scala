// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.streams.state

import java.io.{DataInputStream, DataOutputStream}
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.intervalsweep.streams.eventtime.StreamErrors

/**
 * Identifies the query that wrote a state, by everything that gives the stored rows their meaning.
 *
 * @param texts the properties of the query by name, so that an error can say what differs
 */
final case class StateIdentity(texts: Seq[(String, String)]) {

  /** Fails if another query wrote the state. */
  def check(written: StateIdentity): Unit = {
    val (before, now) = (written.texts.toMap, texts.toMap)
    for (name <- (texts ++ written.texts).map(_._1).distinct) {
      val (old, own) = (before.getOrElse(name, "nothing"), now.getOrElse(name, "nothing"))
      if (old != own) StreamErrors.stateMismatch(name, old, own)
    }
  }

  /** A short text that differs for different identities. */
  def digest: String =
    java.util.UUID.nameUUIDFromBytes(texts.mkString("\n").getBytes(UTF_8)).toString

  private[state] def write(out: DataOutputStream): Unit = {
    out.writeInt(texts.size)
    for ((name, text) <- texts; part <- Seq(name, text)) {
      val bytes = part.getBytes(UTF_8)
      out.writeInt(bytes.length)
      out.write(bytes)
    }
  }
}

object StateIdentity {

  private[state] def read(in: DataInputStream): StateIdentity = {
    def text() = new String(in.readNBytes(in.readInt()), UTF_8)
    StateIdentity(Seq.fill(in.readInt())((text(), text())))
  }
}
