// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition.expiry

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.intervalsweep.condition.ConditionSupport
import org.apache.spark.sql.intervalsweep.condition.model.{LeftSide, RightSide, Side}
import org.apache.spark.sql.intervalsweep.condition.conjuncts.InlineReplaceable
import org.apache.spark.sql.intervalsweep.functions.{Relation, Relations}

/** The expiry of rows, compared with the latest match among all possible rows. */
class StateExpirySuite extends ConditionSupport {
  private val tables = Tables("ts BIGINT, te BIGINT, x INT", "ts BIGINT, te BIGINT, x INT")

  /** A matching row at this time shows that no bound limits the clock. */
  private val Far = 1000L
  private val near: Seq[Any] = Seq(0L, 1L, 2L, 3L, 5L)
  private val rows: Seq[Row] = product(near :+ null, near :+ null, Seq(1))
  private val values: Seq[Any] = (0L to 12L) :+ Far
  private val partners: Seq[Row] = product(values, values, Seq(1))

  private def outcome(
      sql: String,
      side: Side,
      clock: String,
      filters: Seq[String] = Nil): Either[Unbounded, StateExpiry] = {
    val partner = if (side == LeftSide) tables.s else tables.r
    ExpiryAnalysis(
      tables.r.outputSet,
      tables.s.outputSet,
      side,
      partner.output.find(_.name == clock).get,
      filters.map(tables.condition)).of(tables.condition(sql))
  }

  /**
   * No match of a row has a clock after the expiry, and some row has a match exactly at its expiry.
   * If there is no expiry, some row has a match far away.
   *
   * @param isKnown the filter that all rows of the other side satisfy, by ts and te
   * @return whether there is an expiry
   */
  private def assertRight(
      sql: String,
      side: Side,
      clock: String,
      filters: Seq[String] = Nil,
      isKnown: (Long, Long) => Boolean = (_, _) => true): Boolean = {
    val (own, other) = if (side == LeftSide) (tables.r, tables.s) else (tables.s, tables.r)
    val holds = BindReferences.bindReference[Expression](
      InlineReplaceable(tables.condition(sql)),
      AttributeSeq.fromNormalOutput(own.output ++ other.output))
    val found = outcome(sql, side, clock, filters)
    def isTaken(ts: Long, te: Long): Boolean =
      isKnown(ts, te) && (ts <= te || found.forall(_.needsOrdered.isEmpty))
    val taken = partners.filter(p => isTaken(p.head.asInstanceOf[Long], p(1).asInstanceOf[Long]))
    val at = if (clock == "ts") 0 else 1
    val latest = rows.map { row =>
      taken.filter(p => holds.eval(InternalRow.fromSeq(row ++ p)) == true)
        .map(_(at).asInstanceOf[Long]).maxOption
    }
    found match {
      case Right(retention) =>
        val expiry =
          BindReferences.bindReference(
            retention.expiry,
            AttributeSeq.fromNormalOutput(own.output))
        val expiries = rows.map(row => Option(expiry.eval(InternalRow.fromSeq(row))))
        rows.zip(latest).zip(expiries).foreach { case ((row, last), expires) =>
          assert(
            last.forall(l => expires.exists(_.asInstanceOf[Long] >= l)),
            s"$sql, $side row $row leaves at $expires, has a partner with $clock $last")
        }
        assert(latest.zip(expiries).exists(p => p._1.isDefined && p._1 == p._2), s"$sql is loose")
      case Left(_) =>
        assert(latest.contains(Some(Far)), s"$sql has a bound on $clock for the $side")
    }
    found.isRight
  }

  private def calls(relation: Relation): Seq[String] =
    relation.parameters.map(_._1).toSet.subsets().toSeq.map { given =>
      val arguments = given.toSeq.sorted.map(p => s", $p => 2").mkString
      s"${relation.functionName}(r.ts, r.te, s.ts, s.te$arguments)"
    }

  for (relation <- Relations.all; clock <- Seq("ts", "te"))
    test(s"${relation.name}, by $clock") {
      for (call <- calls(relation); side <- Seq(LeftSide, RightSide))
        assertRight(call, side, clock)
    }

  for (relation <- Relations.all)
    test(s"${relation.name}, by te of intervals of a known length") {
      for (call <- calls(relation); side <- Seq(LeftSide, RightSide)) {
        val name = if (side == LeftSide) "s" else "r"
        assertRight(
          call,
          side,
          "te",
          Seq(s"$name.te <= $name.ts + 4"),
          (ts, te) => te <= ts + 4)
      }
    }

  private val raw = Seq(
    // condition, whether the left rows have an expiry by ts, whether the right rows have
    ("r.ts < s.ts AND s.ts < r.te", true, true),
    ("s.ts BETWEEN r.ts - 2 AND r.ts + 3", true, true),
    ("abs(r.ts - s.ts) < 3", true, true),
    ("NOT (abs(r.ts - s.ts) >= 3)", true, true),
    ("s.ts - r.ts <= 3 AND s.te > r.te", true, false),
    ("r.ts = s.ts AND r.te > s.te", true, true),
    ("r.ts > s.te AND r.te < s.ts", false, false),
    ("r.te > s.te", false, false),
    ("s.te <= r.te AND s.ts + 1 <= s.te", true, false),
    ("(s.ts < r.ts OR s.ts < r.te) AND r.ts < s.ts", true, true),
    ("s.ts < r.ts OR r.te < s.te", false, false),
    ("iseql_before(r.ts, r.te, s.ts, s.te, delta => 2) OR s.ts = r.ts", true, true))

  for ((sql, left, right) <- raw)
    test(sql) {
      val found = Seq(LeftSide, RightSide).map(assertRight(sql, _, "ts"))
      assert(found === Seq(left, right))
    }

  test("What no bound keeps near has a cure") {
    def cures(sql: String, side: Side, clock: String): Seq[Cure] =
      outcome(sql, side, clock).left.map(_.cures).left.getOrElse(fail("it is bounded"))
    val before = "iseql_before(r.ts, r.te, s.ts, s.te)"
    assert(cures(before, LeftSide, "ts") === Seq(Cure.Delta))
    assert(cures(before, LeftSide, "te") === Nil)
    assert(cures("interval_intersects(r.ts, r.te, s.ts, s.te)", LeftSide, "te") ===
      Seq(Cure.MaxLength))
    assert(cures("r.te > s.te", LeftSide, "ts") === Nil)
    assert(outcome("r.te > s.te", LeftSide, "ts").left.exists(_.advice.contains("ts")))
  }

  test("Which bounds rest on intervals that end no earlier than they start") {
    def rests(sql: String, side: Side): Boolean =
      outcome(s"$sql(r.ts, r.te, s.ts, s.te)", side, "ts").exists(_.needsOrdered.isDefined)
    assert(Seq("allen_before", "allen_during", "allen_meets", "allen_finishes")
      .forall(rests(_, RightSide)))
    assert(!rests("interval_intersects", LeftSide) && !rests("interval_intersects", RightSide))
    assert(!rests("allen_overlaps", LeftSide) && !rests("allen_overlaps", RightSide))
  }
}
