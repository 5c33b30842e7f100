// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.{
  AnsiTypeCoercion, CollationTypeCoercion, TypeCoercion
}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.intervalsweep.compat.SparkShims
import org.apache.spark.sql.types._

/**
 * A call of a relation's SQL function, with resolved arguments. [[build]] turns it into an
 * [[IntervalPredicate]], or throws an AnalysisException if the arguments are invalid.
 */
private[functions] case class FunctionCall(relation: Relation, arguments: Seq[Expression]) {

  private val conf = SQLConf.get
  private val errors = FunctionErrors(relation, arguments)

  private val (positional, named) = SparkShims.splitArguments(arguments, relation.functionName)

  def build(): Expression = {
    val required = if (arePeriods) 2 else Endpoint.all.size
    val surplus = positional.size - required
    if (surplus < 0 || surplus > relation.parameters.size) errors.wrongNumber(arguments.size)
    val (operands, values) = positional.splitAt(required)
    val parameters = assigned(values)
    if (operands.forall(_.deterministic)) predicate(operands, parameters)
    else computedOnce(operands, parameters)
  }

  /**
   * Whether the call has two structs in place of four endpoints. Four structs are four endpoints of
   * a struct type.
   */
  private def arePeriods: Boolean = {
    val structs = positional.take(Endpoint.all.size).count(isStruct)
    structs == 2 || (structs == 1 && positional.size < Endpoint.all.size)
  }

  private def isStruct(e: Expression): Boolean = e.dataType.isInstanceOf[StructType]

  private def endpoints(operands: Seq[Expression]): Seq[Expression] =
    if (operands.size == Endpoint.all.size) operands
    else Seq("r", "s").zip(operands).flatMap { case (name, period) =>
      period.dataType match {
        case StructType(fields) if fields.length == 2 =>
          Seq(GetStructField(period, 0), GetStructField(period, 1))
        case _ => errors.wrongType(name, period, "STRUCT of two orderable fields")
      }
    }

  /**
   * The formula, for operands that are not deterministic. It may read an operand more than once, so
   * `With` computes each operand once. The result is not an IntervalPredicate, because a join with
   * such operands cannot use a sweep anyway.
   */
  private def computedOnce(
      operands: Seq[Expression],
      parameters: Map[String, Expression]): Expression =
    With(operands: _*)(predicate(_, parameters).conjuncts.reduce(And))

  private def predicate(
      operands: Seq[Expression],
      parameters: Map[String, Expression]): IntervalPredicate = {
    val ends = coerced(endpoints(operands))
    parameters.foreach { case (name, value) => checkParameter(name, value, ends.head) }
    IntervalPredicate(
      relation,
      ends(0),
      ends(1),
      ends(2),
      ends(3),
      parameters.get(Relation.Delta),
      parameters.get(Relation.Epsilon),
      zone(ends.head.dataType, parameters.values))
  }

  /**
   * The four endpoints, cast to one type as GREATEST would cast them. Strings next to dates and
   * times are cast to the type of these first, as Spark's comparisons cast them.
   */
  private def coerced(operands: Seq[Expression]): Seq[Expression] = {
    val endpoints =
      asGreatest(asGreatest(operands.filterNot(isText)).headOption.map(_.dataType) match {
        case Some(time: DatetimeType) => operands.map(e => if (isText(e)) Cast(e, time) else e)
        case _ => operands
      })
    if (!TypeCoercion.haveSameType(endpoints.map(_.dataType))) errors.noCommonType(operands)
    if (!OrderUtils.isOrderable(endpoints.head.dataType)) errors.noOrder(endpoints.head.dataType)
    endpoints
  }

  private def isText(e: Expression): Boolean = e.dataType.isInstanceOf[StringType]

  private def asGreatest(operands: Seq[Expression]): Seq[Expression] = {
    val rules = if (conf.ansiEnabled) AnsiTypeCoercion else TypeCoercion
    if (operands.length < 2) operands
    else CollationTypeCoercion(rules.FunctionArgumentTypeCoercion(Greatest(operands))).children
  }

  /**
   * The parameters that are given, by name. By position, NULL stands for a parameter without a
   * value if another one follows.
   */
  private def assigned(values: Seq[Expression]): Map[String, Expression] = {
    val names = relation.parameters.map(_._1)
    val byPosition = names.zip(values).zipWithIndex.collect {
      case (given, at) if at == values.size - 1 || !constant(given._2).contains(null) => given
    }
    val byName = named.map { argument =>
      val name = names.find(conf.resolver(_, argument.key))
        .getOrElse(errors.unknownParameter(argument.key))
      if (byPosition.exists(_._1 == name)) errors.givenTwice(name)
      name -> argument.value
    }
    (byPosition ++ byName).toMap
  }

  private def checkParameter(name: String, value: Expression, endpoint: Expression): Unit = {
    if (constant(value).contains(null)) errors.nullParameter(name)
    val wanted = parameterTypes(endpoint.dataType)
    if (wanted.isEmpty) {
      errors.wrongType(
        Endpoint.RStart.name,
        endpoint,
        s"NUMERIC, DATE, TIMESTAMP or TIME (because $name is given)")
    }
    if (!wanted.exists(_.acceptsType(value.dataType))) {
      errors.wrongType(name, value, wanted.map(describe).mkString(" or "))
    }
    constant(value).filter(isNegative).foreach(errors.negative(name, value, _))
  }

  private def parameterTypes(endpoints: DataType): Seq[AbstractDataType] = endpoints match {
    case _: NumericType => Seq(NumericType)
    case DateType =>
      Seq(IntegralType, DayTimeIntervalType(DayTimeIntervalType.DAY), YearMonthIntervalType)
    case TimestampType | TimestampNTZType => Seq(DayTimeIntervalType, YearMonthIntervalType)
    case time if SparkShims.isTime(time) => Seq(DayTimeIntervalType)
    case _ => Seq.empty
  }

  private def describe(wanted: AbstractDataType): String = wanted match {
    case DayTimeIntervalType => "INTERVAL DAY TO SECOND"
    case YearMonthIntervalType => "INTERVAL YEAR TO MONTH"
    case DayTimeIntervalType(_, _) => "INTERVAL DAY"
    case other => other.simpleString.toUpperCase(java.util.Locale.ROOT)
  }

  private def isNegative(value: Any): Boolean = value match {
    case decimal: Decimal => decimal.toJavaBigDecimal.signum < 0
    case number => number.asInstanceOf[Number].doubleValue < 0
  }

  /** The value of a constant expression, which may be null. */
  private def constant(e: Expression): Option[Any] = {
    val evaluable = e.transform { case replaceable: RuntimeReplaceable => replaceable.replacement }
    // An expression that throws here throws again when the query evaluates it.
    if (e.foldable) Try(evaluable.eval()).toOption else None
  }

  private def zone(endpoints: DataType, parameters: Iterable[Expression]): Option[String] =
    if (endpoints == TimestampType &&
      parameters.exists(_.dataType.isInstanceOf[YearMonthIntervalType])) {
      Some(conf.sessionLocalTimeZone)
    } else None
}
