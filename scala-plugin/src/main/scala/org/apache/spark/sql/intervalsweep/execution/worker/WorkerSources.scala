// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.worker

import java.io.{File, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, LinkOption, Path, Paths, StandardCopyOption}
import java.nio.file.attribute.{PosixFilePermissions, UserPrincipal}
import java.security.MessageDigest
import java.util.jar.JarFile

import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.spark.internal.Logging

/**
 * The Python sources of the worker. They travel in the jar, under `python/`, and each JVM unpacks
 * them once. So a job needs no file but the jar.
 *
 * The folder is named by the hash of its contents, and it stays: numba keys its cache of compiled
 * kernels by path, and a new folder per job would mean compiling them each time. The folder belongs
 * to the user alone, and its files are compared with the jar before they are used.
 */
object WorkerSources extends Logging {
  private val Prefix = "python/"

  /** The folder to put on the workers' PYTHONPATH. */
  lazy val folder: String = {
    val sources = fromJar()
    if (sources.isEmpty) throw new IllegalStateException(
      "The IntervalSweep jar holds no Python sources under python/: it was not built by its build.")
    val name = "worker-" + hash(sources).take(16)
    candidates().iterator.flatMap(base => tryUnpack(base.resolve(name), sources)).nextOption()
      .getOrElse(throw new IOException(
        s"IntervalSweep cannot unpack its Python worker: no writable folder of ours among " +
          s"${candidates().mkString(", ")}. Set the environment variable XDG_CACHE_HOME to one."))
      .toString
  }

  /**
   * The folders to unpack into, the preferred one first. A user id without a name, as in
   * containers, has no home, either: Java reports `?`.
   */
  private def candidates(): Seq[Path] = {
    val home = Paths.get(System.getProperty("user.home"))
    val cache = Option(System.getenv("XDG_CACHE_HOME")).filter(_.nonEmpty).map(Paths.get(_))
      .orElse(Option.when(home.isAbsolute)(home.resolve(".cache")))
    val temporary = Paths.get(System.getProperty("java.io.tmpdir"))
    val ours = Try(ownerOfNew(temporary)).map(o => temporary.resolve(s"intervalsweep-$o"))
    cache.map(_.resolve("intervalsweep")).toSeq ++ ours.toOption
  }

  /**
   * The owner of a file that this process creates in a folder, as the file system sees it: a number
   * if the user has no name.
   */
  private def ownerOfNew(folder: Path): UserPrincipal = {
    val file = Files.createTempFile(folder, ".owner", null)
    try Files.getOwner(file)
    finally Files.delete(file)
  }

  private def fromJar(): Map[String, Array[Byte]] = {
    val home = new File(getClass.getProtectionDomain.getCodeSource.getLocation.toURI)
    if (home.isDirectory) fromFolder(home.toPath)
    else
      Using.resource(new JarFile(home)) { jar =>
        jar.entries().asScala
          .filter(e => !e.isDirectory && e.getName.startsWith(Prefix))
          .map(e => e.getName.stripPrefix(Prefix) -> jar.getInputStream(e).readAllBytes())
          .toMap
      }
  }

  /** Reads classes that are not packed into a jar: those of the build's own tests. */
  private def fromFolder(home: Path): Map[String, Array[Byte]] = {
    val root = home.resolve(Prefix)
    if (!Files.isDirectory(root)) Map.empty
    else
      Using.resource(Files.walk(root)) { files =>
        files.iterator().asScala.filter(Files.isRegularFile(_))
          .map(f => root.relativize(f).toString -> Files.readAllBytes(f))
          .toMap
      }
  }

  private def hash(sources: Map[String, Array[Byte]]): String = {
    val digest = MessageDigest.getInstance("SHA-256")
    sources.toSeq.sortBy(_._1).foreach { case (name, bytes) =>
      digest.update(name.getBytes(UTF_8))
      digest.update(bytes)
    }
    digest.digest().map(b => f"$b%02x").mkString
  }

  private def tryUnpack(target: Path, sources: Map[String, Array[Byte]]): Option[Path] =
    try {
      createPrivate(target.getParent)
      if (!holds(target, sources)) unpack(target, sources)
      if (holds(target, sources)) Some(target) else None
    } catch {
      case e: IOException =>
        logWarning(s"IntervalSweep cannot keep its Python worker in $target: $e")
        None
    }

  private def createPrivate(folder: Path): Unit = {
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectories(folder.getParent)
      Files.createDirectory(
        folder,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")))
    }
    val owner = Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS)
    if (owner != ownerOfNew(folder)) throw new IOException(s"$folder belongs to $owner")
    val others = Files.getPosixFilePermissions(folder).asScala.map(_.toString)
      .filter(p => p == "GROUP_WRITE" || p == "OTHERS_WRITE")
    if (others.nonEmpty) throw new IOException(s"others may write to $folder")
  }

  private def holds(target: Path, sources: Map[String, Array[Byte]]): Boolean =
    Files.isDirectory(target) && sources.forall { case (name, bytes) =>
      val file = target.resolve(name)
      Files.isRegularFile(file) && java.util.Arrays.equals(Files.readAllBytes(file), bytes)
    }

  /**
   * Writes the files. Other JVMs may do the same at the same time, so each file appears whole or
   * not at all.
   */
  private def unpack(target: Path, sources: Map[String, Array[Byte]]): Unit =
    sources.foreach { case (name, bytes) =>
      val file = target.resolve(name)
      Files.createDirectories(file.getParent)
      val part = Files.createTempFile(file.getParent, ".part", null)
      Files.write(part, bytes)
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)
    }
}
