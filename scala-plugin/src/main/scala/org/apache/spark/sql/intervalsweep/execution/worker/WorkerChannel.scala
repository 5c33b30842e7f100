// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import java.io.{EOFException, IOException}
import java.nio.ByteBuffer
import java.nio.channels.{ReadableByteChannel, SocketChannel, WritableByteChannel}
import java.nio.charset.StandardCharsets.UTF_8

/**
 * Both directions of a worker's connection, in blocking mode and for one thread. Each direction has
 * a buffer: Arrow writes many short pieces of data, and each would become a packet of its own. Data
 * longer than the buffer bypass it. Integers are big-endian.
 */
final class WorkerChannel(channel: SocketChannel)
    extends ReadableByteChannel with WritableByteChannel {
  private val out = ByteBuffer.allocateDirect(WorkerChannel.BufferBytes)
  private val in = ByteBuffer.allocateDirect(WorkerChannel.BufferBytes).limit(0)
  private var sent = 0L
  private var received = 0L
  private var waited = 0L

  def bytesSent: Long = sent
  def bytesReceived: Long = received

  /** The time spent waiting for data to read. */
  def nanosWaited: Long = waited

  override def write(bytes: ByteBuffer): Int = {
    val n = bytes.remaining()
    if (n > out.remaining()) flush()
    if (n > out.remaining()) send(bytes) else out.put(bytes)
    n
  }

  def writeInt(value: Int): Unit = {
    if (out.remaining() < 4) flush()
    out.putInt(value)
  }

  def writeString(text: String): Unit = {
    val bytes = text.getBytes(UTF_8)
    writeInt(bytes.length)
    write(ByteBuffer.wrap(bytes))
  }

  def flush(): Unit = {
    out.flip()
    send(out)
    out.clear()
  }

  private def send(bytes: ByteBuffer): Unit =
    while (bytes.hasRemaining) sent += channel.write(bytes)

  override def read(target: ByteBuffer): Int =
    if (!target.hasRemaining) 0
    else if (in.hasRemaining) fromBuffer(target)
    else if (target.remaining() >= in.capacity()) receive(target)
    else {
      in.clear()
      val n = receive(in)
      in.flip()
      if (n < 0) n else fromBuffer(target)
    }

  private def fromBuffer(target: ByteBuffer): Int = {
    val n = math.min(in.remaining(), target.remaining())
    target.put(in.slice().limit(n))
    in.position(in.position() + n)
    n
  }

  private def receive(target: ByteBuffer): Int = {
    val started = System.nanoTime()
    val n = channel.read(target)
    waited += System.nanoTime() - started
    if (n > 0) received += n
    n
  }

  def readInt(): Int = fully(4).getInt()
  def readLong(): Long = fully(8).getLong()

  def readString(): String = {
    val n = readInt()
    if (n < 0 || n > WorkerChannel.MaxString)
      throw new UnreadableReplyException(s"a text of the length $n")
    UTF_8.decode(fully(n)).toString
  }

  private def fully(n: Int): ByteBuffer = readFully(ByteBuffer.allocate(n))

  /** Fills a buffer up to its limit, and makes it ready to be read. */
  def readFully(bytes: ByteBuffer): ByteBuffer = {
    while (bytes.hasRemaining) if (read(bytes) < 0) throw new EOFException
    bytes.flip()
  }

  override def isOpen: Boolean = channel.isOpen

  /** Does nothing: the connection outlives the readers and writers of Arrow that call this. */
  override def close(): Unit = ()
}

object WorkerChannel {
  private val BufferBytes = 1 << 16

  /** The longest text is the traceback of an exception. */
  private val MaxString = 1 << 24
}

/** Bytes from a worker that do not follow the protocol. */
class UnreadableReplyException(message: String, cause: Throwable = null)
    extends IOException(message, cause)
