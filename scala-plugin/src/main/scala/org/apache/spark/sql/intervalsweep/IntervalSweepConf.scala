// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep

import java.util.Locale
import java.util.concurrent.TimeUnit

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.internal.config.OptionalConfigEntry
import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.internal.SQLConf.{buildConf, buildStaticConf}

/**
 * All settings. Spark's own builder registers them, so that `SET -v` lists them and SET rejects
 * invalid values. No setting changes a result.
 *
 * A test compares `docs/settings.md` with this object.
 */
object IntervalSweepConf {

  val Enabled: ConfigEntry[Boolean] =
    buildConf("spark.sql.intervalsweep.enabled")
      .doc(
        "When true, joins with an interval condition (ALLEN_*, ISEQL_*, INTERVAL_INTERSECTS or " +
          "plain inequalities) are planned as IntervalSweepJoin. When false, Spark plans them as " +
          "it would without the extension; the SQL functions still evaluate.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val Python: OptionalConfigEntry[String] =
    buildStaticConf("spark.sql.intervalsweep.python")
      .doc(
        "The Python interpreter of the sweep workers. It needs pyarrow and numba. If it is not " +
          "set, the first of these is used that is set: spark.pyspark.python, the environment " +
          "variable PYSPARK_PYTHON, python3. Because it names a program that executors run, it " +
          "can be set only when the application starts.")
      .version("0.1.0")
      .stringConf
      .createOptional

  val BatchRows: ConfigEntry[Int] =
    buildConf("spark.sql.intervalsweep.batchRows")
      .doc(
        "The number of rows in one batch between a task and its worker, in both directions. A " +
          "side whose rows are searched as points is collected in chunks of up to 16 such " +
          "batches.")
      .version("0.1.0")
      .intConf
      .checkValue(rows => rows > 0 && rows <= (1 << 24), "It must be between 1 and 16777216.")
      .createWithDefault(1 << 16)

  val RangeRows: ConfigEntry[Long] =
    buildConf("spark.sql.intervalsweep.rangeRows")
      .doc(
        "The number of points per range when a join without equality keys is distributed. The " +
          "number of ranges is the number of points divided by this, at least the default " +
          "parallelism and at most spark.sql.shuffle.partitions. There are fewer ranges if the " +
          "intervals are so long that they would be copied to many ranges.")
      .version("0.1.0")
      .longConf
      .checkValue(_ > 0, "It must be positive.")
      .createWithDefault(1L << 18)

  val BroadcastFactor: ConfigEntry[Double] =
    buildConf("spark.sql.intervalsweep.broadcastFactor")
      .doc(
        "A side is broadcast if its size is at most this many times " +
          "spark.sql.autoBroadcastJoinThreshold. A side packed by columns takes less memory than " +
          "the hash table for which the threshold is meant. 1 decides as for Spark's own joins. " +
          "If the threshold is -1, no side is broadcast because of its size.")
      .version("0.1.0")
      .doubleConf
      .checkValue(_ >= 0, "It must not be negative.")
      .createWithDefault(2.0)

  val SmallGroupPairs: ConfigEntry[Long] =
    buildConf("spark.sql.intervalsweep.smallGroupPairs")
      .doc(
        "A task joins key groups itself if they have at most this many left x right pairs, on " +
          "average over a chunk; for larger groups it asks a worker. A join without keys is one " +
          "group. If a condition bounds only one axis, the task also joins a chunk itself if the " +
          "binary searches of all its rows have at most this many steps, which is about 50,000 " +
          "rows. 0 sends everything to the worker.")
      .version("0.1.0")
      .longConf
      .checkValue(_ >= 0, "It must not be negative.")
      .createWithDefault(1L << 20)

  val Boxes: ConfigEntry[String] =
    buildConf("spark.sql.intervalsweep.boxes")
      .doc(
        "The side of a join whose rows are used as boxes, in which the rows of the other side " +
          "are searched as points: left, right or auto. auto uses the side that leaves fewer " +
          "candidates. If a condition allows only one side, that side is used.")
      .version("0.1.0")
      .stringConf
      .transform(_.toLowerCase(Locale.ROOT))
      .checkValues(Set("auto", "left", "right"))
      .createWithDefault("auto")

  val WeakRanges: ConfigEntry[Boolean] =
    buildConf("spark.sql.intervalsweep.weakRanges")
      .doc(
        "When true, joins with equality keys and a single plain inequality also use " +
          "IntervalSweepJoin, which pays off for keys with many rows on both sides. When false, " +
          "they are left to Spark.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(false)

  val WorkerCacheBytes: ConfigEntry[Long] =
    buildConf("spark.sql.intervalsweep.workerCacheBytes")
      .doc(
        "The memory in which a worker keeps broadcast sides from task to task. It is never more " +
          "than a quarter of the worker's share of spark.executor.pyspark.memory, if that is " +
          "set. A larger side is sent with every task.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ >= 0, "It must not be negative.")
      .createWithDefaultString("128m")

  val WorkerTimeout: ConfigEntry[Long] =
    buildConf("spark.sql.intervalsweep.workerTimeout")
      .doc(
        "The longest time that a task waits for a worker to start, or for a worker that neither " +
          "sends nor receives data and uses no processor time. The worker is then ended, and the " +
          "query fails. A worker that computes is never ended, however long it takes.")
      .version("0.1.0")
      .timeConf(TimeUnit.SECONDS)
      .checkValue(_ > 0, "It must be positive.")
      .createWithDefaultString("5min")

  val AggregateRuns: ConfigEntry[Boolean] =
    buildConf("spark.sql.intervalsweep.aggregateRuns")
      .doc(
        "When true, aggregates such as count(*), sum, avg, min and max over an IntervalSweepJoin " +
          "are computed from the runs of matches, without the pairs, if they are grouped by " +
          "columns of one side or not at all. When false, each pair is built and passed to " +
          "Spark's aggregate.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val PartialSums: ConfigEntry[String] =
    buildConf("spark.sql.intervalsweep.partialSums")
      .doc(
        "Whether the tasks that read the rows of a temporal aggregate add them up before the " +
          "rows are shuffled: auto, always or never. It pays if many rows start and end at the " +
          "same instants, such as days. auto adds up as long as the sums are fewer than the " +
          "rows. Only counts, sums and averages of numbers that are not floating-point can be " +
          "added up.")
      .version("0.1.0")
      .stringConf
      .transform(_.toLowerCase(Locale.ROOT))
      .checkValues(Set("auto", "always", "never"))
      .createWithDefault("auto")

  val PackedExchange: ConfigEntry[Boolean] =
    buildConf("spark.sql.intervalsweep.packedExchange")
      .doc(
        "When true, rows that are shuffled by keys, for a join or a temporal operation, are " +
          "packed by columns, hundreds or thousands at a time. When false, Spark's own exchange " +
          "sends them one by one.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val StreamFanout: ConfigEntry[Int] =
    buildConf("spark.sql.intervalsweep.streamFanout")
      .doc(
        "The number of state partitions over which a window union of streams spreads the base " +
          "rows of a key; the rows of the other stream are kept in each of them. Use more than 1 " +
          "for few or hot keys. 0 means all partitions, which is also the rule without keys. The " +
          "number is fixed when a query starts for the first time.")
      .version("0.1.0")
      .intConf
      .checkValue(_ >= 0, "It must not be negative.")
      .createWithDefault(1)

  /** Every setting, for the documentation and its test. */
  val all: Seq[ConfigEntry[_]] =
    Seq(
      Enabled,
      Python,
      BatchRows,
      RangeRows,
      BroadcastFactor,
      SmallGroupPairs,
      Boxes,
      WeakRanges,
      WorkerCacheBytes,
      WorkerTimeout,
      AggregateRuns,
      PartialSums,
      PackedExchange,
      StreamFanout)

  /** Registers the settings with Spark, by initializing this object. */
  def register(): Unit = ()
}
