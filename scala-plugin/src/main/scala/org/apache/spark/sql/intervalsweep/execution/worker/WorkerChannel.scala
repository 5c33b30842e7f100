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
final class WorkerChannel(private var channel: SocketChannel)
    extends ReadableByteChannel with WritableByteChannel {
  private val out = ByteBuffer.allocateDirect(WorkerChannel.BufferBytes)
  private val in = ByteBuffer.allocateDirect(WorkerChannel.BufferBytes).limit(0)
  @volatile private var sent = 0L
  @volatile private var received = 0L
  @volatile private var waiting = false
  private var waited = 0L

  def bytesSent: Long = sent
  def bytesReceived: Long = received

  /** The time spent waiting for data to read. */
  def nanosWaited: Long = waited

  /** True while a read or a write waits for the worker. Another thread may ask. */
  def isWaiting: Boolean = waiting

  /** Goes on with the connection to another worker. Data in the buffers are dropped. */
  def connect(other: SocketChannel): Unit = {
    channel = other
    out.clear()
    in.clear().limit(0)
  }

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

  private def send(bytes: ByteBuffer): Unit = whileWaiting {
    while (bytes.hasRemaining) sent += channel.write(bytes)
  }

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
    val n = whileWaiting(channel.read(target))
    waited += System.nanoTime() - started
    if (n > 0) received += n
    n
  }

  private def whileWaiting[T](body: => T): T = {
    waiting = true
    try body
    finally waiting = false
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
