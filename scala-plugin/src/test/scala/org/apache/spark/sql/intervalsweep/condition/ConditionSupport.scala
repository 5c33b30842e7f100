// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.condition

import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.analysis.{Analyzer, FunctionRegistry}
import org.apache.spark.sql.catalyst.catalog.{InMemoryCatalog, SessionCatalog}
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.condition.model.{
  Bound, Description, LeftSide, RightSide, Side, Sweep, SweepCondition, SweepNumber, SweepOptions,
  WhyNot
}
import org.apache.spark.sql.intervalsweep.condition.reading.ConditionAnalysis
import org.apache.spark.sql.intervalsweep.functions.RelationDescriptions
import org.apache.spark.sql.types.StructType

/** Two tables `r` (left) and `s` (right), and conditions on them as SQL. */
trait ConditionSupport extends AnyFunSuite {

  type Row = Seq[Any]

  case class Tables(
      rSchema: String,
      sSchema: String,
      ansi: Boolean = true,
      zone: String = "UTC") {

    private val conf = new SQLConf
    conf.setConf(SQLConf.ANSI_ENABLED, ansi)
    conf.setConf(SQLConf.SESSION_LOCAL_TIMEZONE, zone)

    val r: LocalRelation = table(rSchema)
    val s: LocalRelation = table(sSchema)
    private val both = r.output ++ s.output

    private def table(schema: String): LocalRelation = LocalRelation(
      StructType.fromDDL(schema).fields.toSeq.map(f => AttributeReference(f.name, f.dataType)()))

    private def inConf[A](body: => A): A = SQLConf.withExistingConf(conf)(body)

    def condition(sql: String): Expression = inConf {
      val join = Join(SubqueryAlias("r", r), SubqueryAlias("s", s), Inner, None, JoinHint.NONE)
      val query = Filter(CatalystSqlParser.parseExpression(sql), join)
      val analyzed = ConditionSupport.analyzer.execute(query)
      assert(analyzed.resolved, s"$sql has no meaning")
      analyzed.collectFirst { case Filter(condition, _) => condition }.get
    }

    def analyze(
        condition: Expression,
        preferred: Option[Side] = None): Either[WhyNot, SweepCondition] =
      inConf(ConditionAnalysis.of(
        condition,
        r.outputSet,
        s.outputSet,
        SweepOptions(preferredBoxes = preferred)))

    /** The form of a condition as EXPLAIN shows it. */
    def form(sql: String, preferred: Option[Side] = None): String =
      analyze(condition(sql), preferred).fold(
        why => fail(s"$sql: ${why.message}"),
        Description(_).parts.mkString(", "))

    def whyNot(sql: String): WhyNot =
      analyze(condition(sql)).fold(identity, sweep => fail(s"$sql: $sweep"))

    /**
     * Asserts that the sweeps match each pair for which the condition is true exactly once, and no
     * other pair. If the condition raises an error for a pair, the sweeps raise one, too, or do not
     * match the pair. Otherwise they raise none.
     *
     * @return the number of pairs that matched
     */
    def assertExact(sql: String, rRows: Seq[Row], sRows: Seq[Row]): Int = {
      val evaluable = ready(condition(sql))
      val sweep = analyze(evaluable).fold(why => fail(s"$sql: ${why.message}"), identity)
      val holds = bind(evaluable, both)
      val matched = new Matcher(sweep)
      val left = rRows.map(row(_, r)).map(row => (row, matched.ends(LeftSide, row)))
      val right = sRows.map(row(_, s)).map(row => (row, matched.ends(RightSide, row)))
      val pair = new JoinedRow
      inConf {
        left.map { case (rRow, rEnds) =>
          right.count { case (sRow, sEnds) =>
            pair(rRow, sRow)
            val wanted = Try(holds.eval(pair) == true)
            val found = Try(matched.count(pair, rEnds, sEnds))
            val isRight = wanted.fold(
              _ => found.isFailure || found.get == 0,
              holds => found.toOption.contains(if (holds) 1 else 0))
            if (!isRight) fail(
              s"$sql (ansi $ansi) of $rRow and $sRow is $wanted, matched by $found of $sweep")
            found.toOption.exists(_ > 0)
          }
        }.sum
      }
    }

    /** Evaluates a condition pair by pair, as the plan does with a sweep. */
    private class Matcher(sweep: SweepCondition) {
      private val keys =
        sweep.leftKeys.zip(sweep.rightKeys).map { case (a, b) => bind(EqualTo(a, b), both) }
      private val residuals = sweep.sweeps.indices.map { number =>
        sweep.residual.map(r => bind(r.transform { case SweepNumber() => Literal(number) }, both))
      }
      private val checks = (sweep.leftChecks ++ sweep.rightChecks).map(bind(_, both))
      private val endpoints = Map[Side, Seq[Expression]](
        LeftSide -> sweep.leftEndpoints.map(bind(_, r.output)),
        RightSide -> sweep.rightEndpoints.map(bind(_, s.output)))
      private val generated = endpoints.map { case (side, expressions) =>
        side -> inConf(GenerateUnsafeProjection.generate(expressions, true))
      }

      /**
       * The endpoints of a row. Asserts that interpreted and generated code agree; generated code
       * computes common subexpressions first.
       */
      def ends(side: Side, row: InternalRow): Seq[Any] = inConf {
        val values = endpoints(side).map(_.eval(row))
        val same = generated(side)(row).toSeq(endpoints(side).map(_.dataType))
        assert(values == same, s"of ${endpoints(side)} for $row")
        values
      }

      /** The number of sweeps that match a pair, after the keys and the residual. */
      def count(pair: InternalRow, left: Seq[Any], right: Seq[Any]): Int = {
        def end(side: Side, endpoint: Int): Long =
          (if (side == LeftSide) left else right) (endpoint).asInstanceOf[Long]
        if (left.contains(null) || right.contains(null) || !keys.forall(_.eval(pair) == true)) 0
        else {
          val found = sweep.sweeps.zip(residuals).count { case (s, residual) =>
            isIn(s, end) && residual.forall(_.eval(pair) == true)
          }
          if (found > 0) checks.foreach(_.eval(pair))
          found
        }
      }

      private def isIn(sweep: Sweep, end: (Side, Int) => Long): Boolean =
        sweep.axes.forall { axis =>
          val point = end(sweep.points, axis.point)
          def order(bound: Bound): Int =
            java.lang.Long.compare(point, end(sweep.boxes, bound.endpoint))
          axis.lower.forall(b => order(b) > 0 || !b.strict && order(b) == 0) &&
          axis.upper.forall(b => order(b) < 0 || !b.strict && order(b) == 0)
        }
    }

    /** The expression after the first rules of the optimizer. */
    private def ready(e: Expression): Expression = e.transform {
      case replaceable: RuntimeReplaceable => replaceable.replacement
    }.transform { case w: With =>
      val values = w.defs.map(d => d.id -> d.child).toMap
      w.child.transform { case ref: CommonExpressionRef => values(ref.id) }
    }

    private def bind(e: Expression, attributes: Seq[Attribute]): Expression =
      inConf(BindReferences.bindReference(e, AttributeSeq.fromNormalOutput(attributes)))

    private def row(values: Row, table: LocalRelation): InternalRow =
      InternalRow.fromSeq(values.zip(table.output).map { case (v, a) =>
        CatalystTypeConverters.createToCatalystConverter(a.dataType)(v)
      })
  }

  def product(columns: Seq[Any]*): Seq[Row] =
    columns.foldLeft(Seq(Seq.empty[Any])) { (rows, column) =>
      for (row <- rows; value <- column) yield row :+ value
    }
}

object ConditionSupport {
  private lazy val analyzer: Analyzer = {
    val extensions = new SparkSessionExtensions
    RelationDescriptions.descriptions.foreach(extensions.injectFunction)
    val registry = extensions.registerFunctions(FunctionRegistry.builtin.clone())
    new Analyzer(new SessionCatalog(new InMemoryCatalog, registry))
  }
}
