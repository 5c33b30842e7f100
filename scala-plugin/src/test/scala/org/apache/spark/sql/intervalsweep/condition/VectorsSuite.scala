// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition

import java.util.Locale

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeSeq, BindReferences, Cast, Literal}
import org.apache.spark.sql.intervalsweep.Repository
import org.apache.spark.sql.intervalsweep.condition.expressions.{EncodedEndpoint, EndpointEncoding}
import org.apache.spark.sql.intervalsweep.condition.model.{
  Axis, AxisInterval, LeftSide, RightSide, Side, Sweep, SweepCondition
}
import org.apache.spark.sql.types.{DataType, StructType}

/** The sweeps and encodings of `tests/vectors`, which Python's `test_vectors.py` reads, too. */
class VectorsSuite extends ConditionSupport {
  private val sweeps = json("sweeps.json")
  private val encodings = json("encodings.json")
  private val longs = Tables("ts BIGINT, te BIGINT", "ts BIGINT, te BIGINT")

  private def json(name: String): JsonNode =
    new ObjectMapper().readTree(Repository.read(s"tests/vectors/$name"))

  private def items(node: JsonNode, field: String): Seq[JsonNode] = items(node.required(field))
  private def items(node: JsonNode): Seq[JsonNode] = node.elements.asScala.toSeq
  private def text(node: JsonNode, field: String): String = node.required(field).asText()

  private def analyzed(
      tables: Tables,
      relation: String,
      parameters: Iterable[(String, String)]): SweepCondition = {
    val sql = call(relation, parameters)
    tables.analyze(tables.condition(sql)).fold(why => fail(s"$sql: ${why.message}"), identity)
  }

  private def call(relation: String, parameters: Iterable[(String, String)]): String = {
    val arguments = parameters.map { case (name, value) => s", $name => $value" }.mkString
    s"${relation.toLowerCase(Locale.ROOT)}(r.ts, r.te, s.ts, s.te$arguments)"
  }

  /** The endpoints of a row. */
  private def ends(
      tables: Tables,
      condition: SweepCondition,
      side: Side,
      row: InternalRow): Seq[Any] = {
    val columns = if (side == LeftSide) tables.r.output else tables.s.output
    condition.endpoints(side).map(
      BindReferences.bindReference(_, AttributeSeq.fromNormalOutput(columns)).eval(row))
  }

  // Sweeps

  /** The least and the greatest value that a box admits on an axis. None if it admits no value. */
  private def admitted(axis: Axis, ends: Seq[Any]): Option[(Long, Long)] = {
    val interval = new AxisInterval(axis)
    interval.read(ends(_).asInstanceOf[Long])
    Option.unless(interval.isEmpty)((interval.least, interval.most))
  }

  /** The same for the bounds of the file, such as `<= r.te + delta`. */
  private def admitted(
      bounds: Seq[String],
      box: (Long, Long),
      limits: Map[String, Long]): Option[(Long, Long)] = {
    val values = bounds.map(_.split(" ").toList).map {
      case operator :: end :: moved =>
        val value = BigInt(if (end.endsWith("ts")) box._1 else box._2)
        val by = moved match {
          case List("+", parameter) => limits(parameter)
          case List("-", parameter) => -limits(parameter)
          case _ => 0L
        }
        operator -> (value + by)
      case other => fail(s"$other is no bound")
    }
    val low = values.collect { case (">", v) => v + 1; case (">=", v) => v }
    val high = values.collect { case ("<", v) => v - 1; case ("<=", v) => v }
    val least = (BigInt(Long.MinValue) +: low).max
    val most = (BigInt(Long.MaxValue) +: high).min
    Option.when(least <= most)((least.toLong, most.toLong))
  }

  /** The parameters of a case, with each of the distances. */
  private def limits(parameters: Seq[String]): Seq[Map[String, Long]] =
    parameters.foldLeft(Seq(Map.empty[String, Long])) { (all, parameter) =>
      for (some <- all; distance <- items(sweeps, "distances"))
        yield some + (parameter -> distance.longValue)
    }

  /** Compares a sweep with one of the file. Returns the number of intervals that it compared. */
  private def compare(
      condition: SweepCondition,
      sweep: Sweep,
      wanted: JsonNode,
      limits: Map[String, Long]): Int = {
    val about = s"$wanted with $limits is $condition"
    assert(sweep.boxes == (if (text(wanted, "boxes") == "r") LeftSide else RightSide), about)
    val axes = items(wanted, "axes").map(items(_).map(_.asText()))
    val points = sweep.axes.map(axis => condition.endpoints(sweep.points)(axis.point).sql)
    assert(points == axes.map(_.head), about)
    items(sweeps, "boxes").map { pair =>
      val box = (pair.get(0).longValue, pair.get(1).longValue)
      val expected = axes.map(bounds => admitted(bounds.tail, box, limits))
      val found = ends(longs, condition, sweep.boxes, InternalRow(box._1, box._2))
      // A row with a NULL endpoint matches nothing.
      if (found.contains(null)) assert(expected.contains(None), s"$box: $about")
      else assert(sweep.axes.map(admitted(_, found)) == expected, s"$box: $about")
      expected.count(_.isDefined)
    }.sum
  }

  test("the sweeps of each relation have the bounds of the file") {
    val compared = for {
      vector <- items(sweeps, "cases")
      given <- limits(items(vector, "parameters").map(_.asText()))
    } yield {
      val parameters = given.map { case (name, value) => name -> value.toString }
      val condition = analyzed(longs, text(vector, "relation"), parameters)
      assert(condition.leftKeys.isEmpty && condition.residual.isEmpty, s"$vector: $condition")
      val wanted = items(vector, "sweeps")
      assert(condition.sweeps.size == wanted.size, s"$vector: $condition")
      condition.sweeps.zip(wanted)
        .map { case (sweep, ofFile) => compare(condition, sweep, ofFile, given) }.sum
    }
    assert(compared.sum > 900)
  }

  // Encodings

  private def typeOf(name: String): DataType = StructType.fromDDL(s"v $name").head.dataType

  private def value(text: String, dataType: DataType): Any =
    Cast(Literal(text), dataType, Some("UTC")).eval()

  private def encoded(value: Any, dataType: DataType): Any =
    EncodedEndpoint(Literal(value, dataType)).eval()

  test("endpoints have the codes of the file") {
    val codes = items(encodings, "types").map { vector =>
      val dataType = typeOf(text(vector, "type"))
      items(vector, "codes").map { pair =>
        val code = pair.get(1).longValue
        assert(encoded(value(pair.get(0).asText(), dataType), dataType) == code, s"$pair")
        assert(encoded(EndpointEncoding.decode(code, dataType), dataType) == code, s"$pair")
        code
      }
    }
    assert(codes.forall(some => some == some.sorted))
    assert(codes.flatten.size > 80)
  }

  test("other types have no codes") {
    for (name <- items(encodings, "unsupported").map(_.asText()))
      assert(!EndpointEncoding.isSupported(typeOf(name)), name)
  }

  /** A number, or a length of time such as `1.5 SECOND`, as SQL. */
  private def distance(vector: JsonNode): String = {
    val parts = text(vector, "distance").split(" ")
    if (parts.length == 1) parts.head else s"INTERVAL '${parts.head}' ${parts.last}"
  }

  private def tablesOf(vector: JsonNode): Tables = {
    val schema = s"ts ${text(vector, "type")}, te ${text(vector, "type")}"
    Tables(schema, schema)
  }

  test("distances are added as in the file") {
    for {
      vector <- items(encodings, "parameters")
      (relation, field) <- Seq("ISEQL_BEFORE" -> "latest", "ISEQL_AFTER" -> "earliest")
    } {
      val tables = tablesOf(vector)
      val end = value(text(vector, "value"), typeOf(text(vector, "type")))
      val condition = analyzed(tables, relation, Seq("delta" -> distance(vector)))
      val sweep = condition.sweeps.head
      val bound = if (field == "latest") sweep.lead.upper else sweep.lead.lower
      val found = ends(tables, condition, sweep.boxes, InternalRow(end, end))
      assert(sweep.boxes == LeftSide && bound.exists(!_.strict), s"$vector: $condition")
      assert(found(bound.get.endpoint) == vector.required(field).longValue, s"$vector: $condition")
    }
  }

  test("negative distances are refused") {
    for (vector <- items(encodings, "negative")) {
      val sql = call("ISEQL_BEFORE", Seq("delta" -> distance(vector)))
      val error = intercept[AnalysisException](tablesOf(vector).condition(sql))
      assert(error.getMessage.contains("[0, infinity)"), sql)
    }
  }
}
