// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep

import java.util.Locale

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.internal.config.OptionalConfigEntry
import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.internal.SQLConf.{buildConf, buildStaticConf}

/**
 * All settings, registered with Spark's own builder, so that `SET -v` documents them and a wrong
 * value is refused where it is set. None of them can change a result.
 *
 * The entry of each in `docs/settings.md` is compared with this object by a test.
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
        "The Python interpreter of the sweep workers; it needs pyarrow and numba. When it is not " +
          "set: spark.pyspark.python, then the environment variable PYSPARK_PYTHON, then python3. " +
          "It names a program that executors run, and is set when the application starts.")
      .version("0.1.0")
      .stringConf
      .createOptional

  val BatchRows: ConfigEntry[Int] =
    buildConf("spark.sql.intervalsweep.batchRows")
      .doc(
        "Rows of one batch between a task and its worker, in both directions. A side that a " +
          "sweep searches as points is collected in windows of up to 16 such batches.")
      .version("0.1.0")
      .intConf
      .checkValue(rows => rows > 0 && rows <= (1 << 24), "It must be between 1 and 16777216.")
      .createWithDefault(1 << 16)

  val RangeRows: ConfigEntry[Long] =
    buildConf("spark.sql.intervalsweep.rangeRows")
      .doc(
        "Points per range when a join without equality keys is distributed: the number of ranges " +
          "is the number of points divided by this, at least the default parallelism and at most " +
          "spark.sql.shuffle.partitions; fewer if the intervals are so long that they would be " +
          "copied to many.")
      .version("0.1.0")
      .longConf
      .checkValue(_ > 0, "It must be positive.")
      .createWithDefault(1L << 18)

  val BroadcastFactor: ConfigEntry[Double] =
    buildConf("spark.sql.intervalsweep.broadcastFactor")
      .doc(
        "A side is broadcast if its size is at most this many times " +
          "spark.sql.autoBroadcastJoinThreshold: packed by columns it takes less memory than the " +
          "hash table that the threshold is meant for. 1 has it decided as for Spark's own joins; " +
          "nothing is broadcast for its size where the threshold is -1.")
      .version("0.1.0")
      .doubleConf
      .checkValue(_ >= 0, "It must not be negative.")
      .createWithDefault(2.0)

  val SmallGroupPairs: ConfigEntry[Long] =
    buildConf("spark.sql.intervalsweep.smallGroupPairs")
      .doc(
        "Key groups with at most this many left x right pairs, on average over a batch, are " +
          "joined by the task itself; for larger ones it asks a worker. A join without keys is " +
          "one group. So is a batch, where a condition bounds one axis only, if the binary " +
          "searches of all its rows have at most this many steps: some 50,000 rows. 0 sends " +
          "everything to the worker.")
      .version("0.1.0")
      .longConf
      .checkValue(_ >= 0, "It must not be negative.")
      .createWithDefault(1L << 20)

  val Boxes: ConfigEntry[String] =
    buildConf("spark.sql.intervalsweep.boxes")
      .doc(
        "The side of a join whose rows are taken as boxes, in which the other side's rows are " +
          "searched as points: left, right, or auto, which is the side that leaves fewest " +
          "candidates. Where a condition allows one side only, it is that side.")
      .version("0.1.0")
      .stringConf
      .transform(_.toLowerCase(Locale.ROOT))
      .checkValues(Set("auto", "left", "right"))
      .createWithDefault("auto")

  val WeakRanges: ConfigEntry[Boolean] =
    buildConf("spark.sql.intervalsweep.weakRanges")
      .doc(
        "When true, joins with equality keys and a single plain inequality are swept as well, " +
          "which pays for keys with many rows on both sides. When false, they are left to Spark.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(false)

  val WorkerCacheBytes: ConfigEntry[Long] =
    buildConf("spark.sql.intervalsweep.workerCacheBytes")
      .doc(
        "What a worker keeps of broadcast sides from task to task, at most, and never more than a " +
          "quarter of its share of spark.executor.pyspark.memory, where that is set. A side that " +
          "is larger is sent with every task.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ >= 0, "It must not be negative.")
      .createWithDefaultString("128m")

  val AggregateRuns: ConfigEntry[Boolean] =
    buildConf("spark.sql.intervalsweep.aggregateRuns")
      .doc(
        "When true, aggregates such as count(*), sum, avg, min and max over a swept join, by " +
          "columns of one side or of all pairs, are computed from the runs of matches, without " +
          "the pairs. When false, each pair is made and given to Spark's aggregate.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val StreamFanout: ConfigEntry[Int] =
    buildConf("spark.sql.intervalsweep.streamFanout")
      .doc(
        "Over how many of the state's partitions the base rows of a key are spread in a window " +
          "union of streams; the other stream's rows are kept in each of them. More than 1 is for " +
          "few or hot keys; 0 stands for all partitions, which are taken where there are no keys. " +
          "It is fixed when a query starts for the first time.")
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
      AggregateRuns,
      StreamFanout)

  /** Registers the settings with Spark, which happens when this object is first touched. */
  def register(): Unit = ()
}
