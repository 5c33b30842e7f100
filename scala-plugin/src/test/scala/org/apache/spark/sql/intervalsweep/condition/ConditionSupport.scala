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
import org.apache.spark.sql.intervalsweep.functions.IntervalFunctions
import org.apache.spark.sql.types.StructType

/** Two tables `r` (left) and `s` (right), conditions on them as SQL, and what they mean. */
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

    private def table(schema: String): LocalRelation = LocalRelation(
      StructType.fromDDL(schema).fields.toSeq.map(f => AttributeReference(f.name, f.dataType)()))

    def inConf[A](body: => A): A = SQLConf.withExistingConf(conf)(body)

    /** Resolved, and free of what is not there after the optimizer's first rules. */
    def condition(sql: String): Expression = inConf {
      val join = Join(SubqueryAlias("r", r), SubqueryAlias("s", s), Inner, None, JoinHint.NONE)
      val query = Filter(CatalystSqlParser.parseExpression(sql), join)
      val analyzed = ConditionSupport.analyzer.execute(query)
      assert(analyzed.resolved, s"$sql has no meaning")
      analyzed.collectFirst { case Filter(condition, _) => condition }.get
    }

    def analyze(sql: String, preferred: Option[Side] = None): Either[WhyNot, SweepCondition] =
      analyzed(condition(sql), preferred)

    def analyzed(
        condition: Expression,
        preferred: Option[Side] = None): Either[WhyNot, SweepCondition] = inConf {
      SweepCondition.analyze(condition, r.outputSet, s.outputSet, preferred)
    }

    /** The form of a condition in words; the reason why there is none. */
    def form(sql: String, preferred: Option[Side] = None): String = analyze(sql, preferred) match {
      case Right(sweep) => sweep.describe.map { case (name, value) => s"$name $value" }.mkString(", ")
      case Left(reason) => reason.getClass.getSimpleName.stripSuffix("$")
    }

    /** How many sweeps match a pair, after the keys and the residual. */
    def matches(sweep: SweepCondition): (Row, Row) => Int = inConf {
      val both = r.output ++ s.output
      val keys = sweep.leftKeys.zip(sweep.rightKeys).map { case (a, b) => bind(EqualTo(a, b), both) }
      val left = sweep.leftEndpoints.map(bind(_, r.output))
      val right = sweep.rightEndpoints.map(bind(_, s.output))
      val residual = sweep.residual.map(e => bind(ready(e), both))
      val (leftCode, rightCode) = (generated(left), generated(right))
      (rRow, sRow) => inConf {
        val (leftEnds, rightEnds) = (left.map(_.eval(row(rRow, r))), right.map(_.eval(row(sRow, s))))
        assert(leftCode(row(rRow, r)) == leftEnds && rightCode(row(sRow, s)) == rightEnds, "generated")
        def ends(side: Side): Int => Long =
          slot => (if (side == LeftSide) leftEnds else rightEnds)(slot).asInstanceOf[Long]
        if ((leftEnds ++ rightEnds).contains(null)) 0
        else if (!keys.forall(_.eval(joined(rRow, sRow)) == true)) 0
        else {
          val found = sweep.sweeps.count(isIn(_, ends))
          if (found > 0 && residual.forall(_.eval(joined(rRow, sRow)) == true)) found else 0
        }
      }
    }

    /** The same values from generated code, with common subexpressions computed ahead. */
    private def generated(endpoints: Seq[Expression]): InternalRow => Seq[Any] = {
      val projection = GenerateUnsafeProjection.generate(endpoints, true)
      row => projection(row).toSeq(endpoints.map(_.dataType))
    }

    private def isIn(sweep: Sweep, ends: Side => Int => Long): Boolean = sweep.axes.forall { axis =>
      val point = ends(sweep.points)(axis.point)
      axis.lower.forall { b =>
        val low = ends(sweep.boxes)(b.slot)
        if (b.strict) low < point else low <= point
      } && axis.upper.forall { b =>
        val high = ends(sweep.boxes)(b.slot)
        if (b.strict) point < high else point <= high
      }
    }

    private def ready(e: Expression): Expression =
      e.transform { case replaceable: RuntimeReplaceable => replaceable.replacement }.transform {
        case w: With =>
          val values = w.defs.map(d => d.id -> d.child).toMap
          w.child.transform { case ref: CommonExpressionRef => values(ref.id) }
      }

    private def bind(e: Expression, attributes: Seq[Attribute]): Expression =
      BindReferences.bindReference(e, AttributeSeq.fromNormalOutput(attributes))

    private def row(values: Row, table: LocalRelation): InternalRow =
      InternalRow.fromSeq(values.zip(table.output).map { case (v, a) =>
        CatalystTypeConverters.createToCatalystConverter(a.dataType)(v)
      })

    private def joined(rRow: Row, sRow: Row): InternalRow =
      new JoinedRow(row(rRow, r), row(sRow, s))

    /**
     * The sweeps match, exactly once, the pairs that the condition holds for. Where the condition
     * raises an error for a pair, they need not; where it does not, they may not.
     *
     * @return how many pairs matched
     */
    def assertExact(sql: String, rRows: Seq[Row], sRows: Seq[Row]): Int = {
      val condition = this.condition(sql)
      val sweep = analyzed(condition).fold(why => fail(s"$sql: ${why.message}"), identity)
      val bound = inConf(bind(ready(condition), r.output ++ s.output))
      val matched = matches(sweep)
      var count = 0
      for (rRow <- rRows; sRow <- sRows)
        Try(inConf(bound.eval(joined(rRow, sRow)) == true)).toOption match {
          case Some(holds) =>
            val found = matched(rRow, sRow)
            if (found != (if (holds) 1 else 0)) {
              fail(s"$sql (ansi $ansi) of $rRow and $sRow is $holds, matched by $found sweeps of $sweep")
            }
            count += found
          case None => Try(matched(rRow, sRow))
        }
      count
    }
  }

  def product(columns: Seq[Any]*): Seq[Row] =
    columns.foldLeft(Seq(Seq.empty[Any])) { (rows, column) =>
      for (row <- rows; value <- column) yield row :+ value
    }
}

object ConditionSupport {
  private lazy val analyzer: Analyzer = {
    val extensions = new SparkSessionExtensions
    IntervalFunctions.descriptions.foreach(extensions.injectFunction)
    val registry = extensions.registerFunctions(FunctionRegistry.builtin.clone())
    new Analyzer(new SessionCatalog(new InMemoryCatalog, registry))
  }
}
