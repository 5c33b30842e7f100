// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expiry

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeSeq, BindReferences}
import org.apache.spark.sql.intervalsweep.Repository
import org.apache.spark.sql.intervalsweep.condition.ConditionSupport
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, Side}
import org.apache.spark.sql.intervalsweep.functions.{Relation, Relations}

/** The tables of docs/streams/relations.md are what the analysis finds for each relation. */
class RelationBoundsSuite extends ConditionSupport {
  private val schema = "ts TIMESTAMP, te TIMESTAMP"
  private val tables = Tables(schema, schema)
  private val Second = 1000000L
  private val MaxLength = "max_length"

  /** Seconds, such that a sum of some of them and of an endpoint says what it consists of. */
  private val seconds = Map(Relation.Delta -> 10L, Relation.Epsilon -> 20L, MaxLength -> 100L)
  private val ends = Map(1000L -> "ts", 5000L -> "te")
  private val row = InternalRow(1000 * Second, 5000 * Second)

  /** The cell of a side's rows: the expiry that needs the fewest parameters, the first of these. */
  private def cell(relation: Relation, side: Side, clock: String): String = {
    val needs = relation.parameters.map(_._1) :+ MaxLength
    val choices = (0 to needs.size).flatMap(needs.combinations(_))
    choices.iterator
      .flatMap(needed => expiry(relation, side, clock, needed).map(shown(_, side, needed)))
      .nextOption().getOrElse("**never**")
  }

  private def expiry(
      relation: Relation,
      side: Side,
      clock: String,
      needed: Seq[String]): Option[StateExpiry] = {
    val (partner, name) = if (side == LeftSide) (tables.s, "s") else (tables.r, "r")
    def length(what: String): String = s"INTERVAL '${seconds(what)}' SECOND"
    val parameters = needed.filter(_ != MaxLength).map(p => s", $p => ${length(p)}").mkString
    val filters = needed.filter(_ == MaxLength).map(m => s"$name.te <= $name.ts + ${length(m)}")
    ExpiryAnalysis(
      tables.r.outputSet,
      tables.s.outputSet,
      side,
      partner.output.find(_.name == clock).get,
      filters.map(tables.condition(_)))
      .of(tables.condition(s"${relation.functionName}(r.ts, r.te, s.ts, s.te$parameters)"))
      .toOption
  }

  private def shown(found: StateExpiry, side: Side, needed: Seq[String]): String = {
    val (own, name) = if (side == LeftSide) (tables.r, "r") else (tables.s, "s")
    val expiry = BindReferences.bindReference(
      found.expiry,
      AttributeSeq.fromNormalOutput(own.output)).eval(row).asInstanceOf[Long]
    // A bound that excludes the value itself is a microsecond earlier.
    val rounded = Math.floorDiv(expiry + Second - 1, Second)
    val end = ends.getOrElse(
      rounded - needed.map(seconds).sum,
      fail(s"the expiry of $name is $expiry, with $needed"))
    val bound = (s"$name.$end" +: needed).mkString("`", " + ", "`")
    if (found.needsOrdered.isDefined) s"$bound, *ordered*" else bound
  }

  for ((clock, title) <- Seq("ts" -> "starts", "te" -> "ends"))
    test(s"the table for watermarks on the $title of intervals") {
      val page = Repository.read("docs/streams/relations.md")
      val section = page.split("\n## ").find(_.startsWith(s"Watermarks on the $title "))
      val rows = section.toSeq.flatMap(_.linesIterator).filter(_.startsWith("| `"))
      val wanted = Relations.all.map { relation =>
        val cells = Side.all.map(cell(relation, _, clock))
        (s"`${relation.name}`" +: cells).mkString("| ", " | ", " |")
      }
      assert(rows == wanted, s"The table must be\n${wanted.mkString("\n")}\n")
    }
}
