// SPDX-License-Identifier: Apache-2.0
package org.intervalsweep

import java.lang.reflect.{Method, Modifier}
import java.nio.file.Files
import java.time.{Duration, LocalDate}

import org.apache.spark.sql.{classic, Column, DataFrame, SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, TableFunctionRegistry}
import org.apache.spark.sql.functions.{col, count_if, expr, lit}
import org.apache.spark.sql.intervalsweep.functions.{Relation, Relations}
import org.intervalsweep.IntervalFunctions._
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

/** The functions for Scala and Java against the SQL functions of the same names. */
class IntervalFunctionsSuite extends AnyFunSuite with BeforeAndAfterAll {

  private def builder: classic.SparkSession.Builder = classic.SparkSession.builder()
    .master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.codegen.wholeStage", "false") // Each test compares other expressions.
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.warehouse.dir", Files.createTempDirectory("warehouse").toString)

  private lazy val spark = builder
    .withExtensions((extensions: SparkSessionExtensions) =>
      new IntervalSweepExtensions().apply(extensions))
    .getOrCreate()

  override protected def afterAll(): Unit = {
    spark.stop()
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
    super.afterAll()
  }

  /** The static methods, which Java calls. */
  private val methods: Seq[Method] = Class.forName("org.intervalsweep.IntervalFunctions").getMethods
    .filter(m => Modifier.isStatic(m.getModifiers) && !m.getName.contains('$')).toSeq

  private def sqlName(name: String): String =
    "[A-Z]".r.replaceAllIn(name, letter => s"_${letter.matched.toLowerCase}")

  private def forms(name: String): Map[Int, Seq[Column] => Column] =
    methods.filter(m => sqlName(m.getName) == name).map { method =>
      method.getParameterCount -> { (arguments: Seq[Column]) =>
        method.invoke(null, arguments: _*).asInstanceOf[Column]
      }
    }.toMap

  private def intervals(name: String): DataFrame = spark.sql(
    s"SELECT ts, te, struct(ts, te) AS $name FROM VALUES (0), (1), (2), (3), (NULL) a(ts), " +
      "VALUES (0), (1), (2), (3), (NULL) b(te)").as(name)

  private lazy val pairs = intervals("r").crossJoin(intervals("s"))
  private val endpoints = Seq("r.ts", "r.te", "s.ts", "s.te")
  private val periods = Seq("r.r", "s.s")

  test("each function of SQL has a function of the same name") {
    val state = spark.sessionState
    val added =
      state.functionRegistry.listFunction().toSet -- FunctionRegistry.builtin.listFunction() ++
        (state.tableFunctionRegistry.listFunction().toSet --
          TableFunctionRegistry.builtin.listFunction())
    assert(added.size > 30)
    assert(methods.map(m => sqlName(m.getName)).toSet == added.map(_.funcName))
  }

  for (relation <- Relations.all; name <- relation.name +: relation.aliases) {
    val function = Relation.functionName(name)
    test(s"$function is the function of SQL") {
      val names = relation.parameters.map(_._1)
      val called = forms(function)
      val limited = endpoints.size + names.size
      assert(called.keySet == Set(2, 4, limited) ++ Option.when(names.size == 1)(3))

      def call(operands: Seq[String], limits: Option[String]*): (Column, String) = {
        val arguments = operands.map(col) ++ limits.map(_.fold[Column](null)(_ => lit(1)))
        val text = (operands ++ limits.flatten.map(_ + " => 1")).mkString(", ")
        called(arguments.size)(arguments) -> s"$function($text)"
      }
      val limits = names.map(Option(_))
      val calls = Seq(call(endpoints), call(periods)) ++
        Option.when(names.nonEmpty)(
          Seq(call(endpoints, limits: _*), call(periods, limits: _*))).toSeq.flatten ++
        Option.when(names.size == 2)(
          Seq(call(endpoints, limits(0), None), call(endpoints, None, limits(1)))).toSeq.flatten
      val counts = calls.flatMap { case (column, text) =>
        Seq(count_if(column), count_if(!(column <=> expr(text))))
      }
      val found = pairs.agg(counts.head, counts.tail: _*).head().toSeq.map(_.asInstanceOf[Long])
      found.grouped(2).zip(calls).foreach { case (counted, (_, text)) =>
        assert(counted.head > 0 && counted.last == 0, text)
      }
      val joined = intervals("r").join(intervals("s"), calls.head._1)
      assert(joined.queryExecution.executedPlan.toString.contains("IntervalSweepJoin"))
      assert(joined.count() == found.head)
    }
  }

  test("named limits, and durations as limits") {
    val pair = spark.sql("SELECT DATE'2024-01-02' rte, DATE'2024-01-04' sts, 1 a, 4 b, 3 c, 5 d")
    def value(column: Column): Any = pair.select(column).head().get(0)
    val (rte, sts) = (col("rte"), col("sts"))
    assert(value(iseqlBefore(rte, rte, sts, sts, delta = lit(2))) == true)
    assert(value(iseqlBefore(rte, rte, sts, sts, delta = lit(1))) == false)
    val times = Seq(rte, rte, sts, sts).map(_.cast("timestamp"))
    def before(limit: Duration) =
      value(iseqlBefore(times(0), times(1), times(2), times(3), lit(limit)))
    assert(before(Duration.ofHours(48)) == true)
    assert(before(Duration.ofHours(47)) == false)
    val columns = Seq("a", "b", "c", "d").map(col)
    def overlap(epsilon: Column) =
      value(iseqlLeftOverlap(columns(0), columns(1), columns(2), columns(3), epsilon = epsilon))
    assert(overlap(lit(1)) == true)
    assert(overlap(lit(0)) == false)
  }

  test("functions of streams") {
    val near = col("b.t").between(col("a.t"), col("a.t") + lit(2))
    val (a, b) = (spark.range(3).toDF("t").as("a"), spark.range(2, 3).toDF("t").as("b"))
    assert(a.join(b, near).select(pairEventTime(col("a.t"), col("b.t"))).collect()
      .map(_.getLong(0)).toSeq == Seq(2L, 2L, 2L))
    val row = spark.range(1).select(windowIsFinal(), windowRevision()).head()
    assert(row.getBoolean(0) && row.getInt(1) == 1)
    val window = spark.range(3).toDF("at").where(col("at") <= col("id").outer())
      .select(windowEventTime().as("until"))
    val error = intercept[Exception](spark.range(2).lateralJoin(window).count())
    assert(error.getMessage.contains("window_event_time"), error.getMessage)
  }

  private lazy val works = {
    spark.sql(
      """CREATE TEMP VIEW works AS SELECT * FROM VALUES
        |  ('Ann', 'SP', DATE'2024-01-03', DATE'2024-01-10'),
        |  ('Joe', 'NS', DATE'2024-01-08', DATE'2024-01-16'),
        |  ('Sam', 'SP', DATE'2024-01-08', NULL) t(name, skill, ts, te)""".stripMargin)
    spark.table("works")
  }
  private val (day, week) = (LocalDate.of(2024, 1, 5), Duration.ofDays(7))
  private val unmarked = "SELECT * FROM"
  private def marked = validtime(works, "ts", "te")
  private val history = "validtime(TABLE(works), 'ts', 'te')"

  private def same(what: String)(called: => DataFrame, text: => String): Unit = test(what) {
    works
    // The optimizer would replace filters and projections of VALUES by their rows.
    spark.conf.set(
      "spark.sql.optimizer.excludedRules",
      "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation")
    def plan(frame: DataFrame) =
      "#\\d+".r.replaceAllIn(frame.queryExecution.optimizedPlan.toString, "#")
    try assert(plan(called) == plan(spark.sql(text)))
    finally spark.conf.unset("spark.sql.optimizer.excludedRules")
  }

  same("interval_merge")(
    intervalMerge(works, "ts", "te", Seq("skill"), Duration.ofDays(2), "n", "drop"),
    s"$unmarked interval_merge(TABLE(works), 'ts', 'te', gap => INTERVAL '2' DAY, count => 'n', " +
      "keys => 'skill', nulls => 'drop')")
  same("interval_split")(
    intervalSplit(works, "ts", "te", keys = Seq("skill", "name"), count = "n", nulls = "drop"),
    s"$unmarked interval_split(TABLE(works), 'ts', 'te', count => 'n', " +
      "keys => array('skill', 'name'), nulls => 'drop')")
  same("interval_complement")(
    intervalComplement(works, "ts", "te", Seq("name"), (day, day.plusDays(9)), "drop"),
    s"$unmarked interval_complement(TABLE(works), 'ts', 'te', keys => 'name', nulls => 'drop', " +
      "within => array(DATE'2024-01-05', DATE'2024-01-14'))")
  same("a history")(
    sequenced(marked.groupBy("skill").count()),
    s"$unmarked sequenced(TABLE(SELECT skill, count(*) AS count FROM $history GROUP BY skill))")
  same("validtime and sequenced with options")(
    sequenced(
      validtime(
        works,
        "ts",
        "te",
        nulls = "unbounded",
        invalid = "error",
        closed = "both",
        unbounded = Seq(LocalDate.of(9999, 12, 31), LocalDate.of(2999, 1, 1)),
        names = ("a", "b"),
        step = Duration.ofDays(1),
        unboundedStart = LocalDate.of(1900, 1, 1)),
      period = (null, day),
      coalesce = true,
      names = ("f", "t"),
      closed = "both",
      unbounded = LocalDate.of(9999, 12, 31),
      step = Duration.ofDays(1)),
    s"""$unmarked sequenced(TABLE(SELECT * FROM validtime(TABLE(works), 'ts', 'te',
       |  nulls => 'unbounded', invalid => 'error', closed => 'both', names => array('a', 'b'),
       |  unbounded => array(DATE'9999-12-31', DATE'2999-01-01'), step => INTERVAL '1' DAY,
       |  unbounded_start => DATE'1900-01-01')), period => array(NULL, DATE'2024-01-05'),
       |  coalesce => true, names => array('f', 't'), closed => 'both',
       |  unbounded => DATE'9999-12-31', step => INTERVAL '1' DAY)""".stripMargin)
  same("the rows of an instant")(
    sequenced(marked, at = day),
    s"$unmarked sequenced(TABLE(SELECT * FROM $history), at => DATE'2024-01-05')")
  same("temporal_union_max")(
    sequenced(temporalUnionMax(marked.select("skill"), marked.select("skill"))),
    s"$unmarked sequenced(TABLE(SELECT * FROM temporal_union_max(" +
      s"TABLE(SELECT skill FROM $history), TABLE(SELECT skill FROM $history))))")
  same("temporal_except_strict")(
    temporalExceptStrict(works, works.where("name = 'Ann'"), "ts", "te"),
    s"$unmarked temporal_except_strict(TABLE(works), TABLE(SELECT * FROM works WHERE name = 'Ann'), " +
      "ts => 'ts', te => 'te')")
  same("temporal_coalesce")(
    temporalCoalesce(works, week, "ts", "te"),
    s"$unmarked temporal_coalesce(TABLE(works), max_length => INTERVAL '7' DAY, ts => 'ts', " +
      "te => 'te')")
  same("temporal_split")(
    temporalSplit(works, "2 weeks", "ts", "te"),
    s"$unmarked temporal_split(TABLE(works), max_length => '2 weeks', ts => 'ts', te => 'te')")
  same("temporal_window, fixed")(
    temporalWindow(works, fixed = week, origin = day, onBounded = "replace", ts = "ts", te = "te"),
    s"$unmarked temporal_window(TABLE(works), fixed => INTERVAL '7' DAY, " +
      "origin => DATE'2024-01-05', on_bounded => 'replace', ts => 'ts', te => 'te')")
  same("temporal_window, sliding")(
    temporalWindow(works.drop("te"), sliding = week, ts = "ts"),
    s"$unmarked temporal_window(TABLE(SELECT name, skill, ts FROM works), " +
      "sliding => INTERVAL '7' DAY, ts => 'ts')")
  same("temporal_resample")(
    temporalResample(
      works,
      "month",
      "ts",
      "te",
      day,
      (null, LocalDate.parse("2024-12-31")),
      ("b", "c", "part"),
      99L),
    s"$unmarked temporal_resample(TABLE(works), every => 'month', ts => 'ts', te => 'te', " +
      "origin => DATE'2024-01-05', period => array(NULL, DATE'2024-12-31'), " +
      "names => array('b', 'c', 'part'), max_buckets => 99)")

  test("a table function returns rows") {
    val rows = temporalSplit(works.where("name = 'Ann'"), Duration.ofDays(5), "ts", "te").collect()
    assert(rows.map(_.getDate(3).toString).sorted.toSeq == Seq("2024-01-08", "2024-01-10"))
  }

  test("the report of a query") {
    val query = "SELECT * FROM range(3) a JOIN range(3) b ON a.id < b.id AND b.id < a.id + 2"
    val report = intervalJoinReport(spark, query).collect()
    assert(report.map(_.getAs[Boolean]("swept")).toSeq == Seq(true))
  }

  test("a table function keeps the cache of its input, and leaves no view") {
    val cached = works.where("name <> 'Joe'").cache()
    cached.count()
    val merged = intervalMerge(cached, "ts", "te")
    assert(merged.queryExecution.optimizedPlan.toString.contains("InMemoryRelation"))
    assert(cached.storageLevel.useMemory)
    cached.unpersist()
    assert(!spark.catalog.listTables().collect().exists(_.name.startsWith("intervalsweep")))
  }

  test("a column that is null is an error") {
    val error = intercept[IllegalArgumentException](allenMeets(col("a"), null))
    assert(error.getMessage.contains("allen_meets"))
  }

  test("a session without the extension is an error") {
    works
    val plain = builder.create()
    plain.withActive {
      val calls = Seq(
        () => allenMeets(col("r"), col("s")),
        () => windowRevision(),
        () => sequenced(plain.range(3).toDF()),
        () => intervalJoinReport(plain, "SELECT 1"))
      calls.foreach { call =>
        val error = intercept[IllegalStateException](call())
        assert(error.getMessage.contains("org.intervalsweep.IntervalSweepExtensions"))
      }
    }
  }
}
