// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import java.nio.file.Files

import org.apache.spark.sql.{Row, SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.planner.joins.{
  InferEndpointsNotNull, PruneUnusedEndpoints
}
import org.scalatest.{BeforeAndAfterAll, Suite}

/** A session with the interval functions and their two optimizer rules, and nothing else. */
trait FunctionsSession extends BeforeAndAfterAll { this: Suite =>

  protected lazy val spark: SparkSession = SparkSession.builder()
    .master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.warehouse.dir", Files.createTempDirectory("warehouse").toString)
    .withExtensions { (extensions: SparkSessionExtensions) =>
      RelationDescriptions.descriptions.foreach(extensions.injectFunction)
      extensions.injectOptimizerRule(_ => PruneUnusedEndpoints)
      extensions.injectOptimizerRule(_ => InferEndpointsNotNull)
    }
    .getOrCreate()

  /** Tables `r (rts, rte)` and `s (sts, ste)`. Cached, so that the optimizer cannot fold them. */
  protected def createIntervals(): Unit =
    Seq("r", "s").foreach { name =>
      spark.sql(s"CREATE TEMP VIEW ${name}0 AS SELECT * FROM VALUES " +
        s"(1, 3), (2, 6), (NULL, 3), (4, NULL), (4, 6) t(${name}ts, ${name}te)")
      spark.sql(s"CACHE TABLE $name AS SELECT * FROM ${name}0")
    }

  override protected def afterAll(): Unit = {
    spark.stop()
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
    super.afterAll()
  }

  protected def rows(query: String): Seq[Row] = spark.sql(query).collect().toSeq

  protected def value(expression: String): Any = rows(s"SELECT $expression").head.get(0)

  protected def withConf[A](settings: (String, String)*)(body: => A): A = {
    val before = settings.map { case (key, _) => key -> spark.conf.getOption(key) }
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally before.foreach {
        case (key, Some(value)) => spark.conf.set(key, value)
        case (key, None) => spark.conf.unset(key)
      }
  }

  /** Runs the body in generated code and interpreted, without constant folding. */
  protected def withAndWithoutCodegen(body: String => Unit): Unit =
    for ((factory, whole) <- Seq("CODEGEN_ONLY" -> "true", "NO_CODEGEN" -> "false"))
      withConf(
        SQLConf.CODEGEN_FACTORY_MODE.key -> factory,
        SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> whole,
        SQLConf.OPTIMIZER_EXCLUDED_RULES.key -> Seq(
          "org.apache.spark.sql.catalyst.optimizer.ConstantFolding",
          "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation").mkString(","))(
        body(factory))
}
