// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.temporal.nodes

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.intervalsweep.condition.expressions.EndpointEncoding
import org.apache.spark.sql.types.{DataType, DecimalType}

/**
 * A relation whose rows are valid in their periods, and which `sequenced` reads. It hides the
 * columns of the period: a query cannot name them, and `*` does not return them.
 *
 * It is not a UnaryNode, because Spark looks below a UnaryNode for columns that ORDER BY names and
 * SELECT does not return.
 *
 * @param end       None if every row is valid from its start on
 * @param names     the names of the period's columns in the result, unless `sequenced` gives others
 * @param unbounded values of the end that mean unbounded
 * @param unboundedStart values of the start that mean unbounded
 * @param step      the length by which an end moves to become half-open; None for the smallest
 * @param untilNext the rows are changes of a stream, whose ends are not known when they arrive
 */
case class ValidTime(
    child: LogicalPlan,
    start: Attribute,
    end: Option[Attribute],
    names: (String, String),
    nulls: Nulls,
    invalid: Invalid,
    closed: Closed,
    unbounded: Seq[Expression] = Nil,
    unboundedStart: Seq[Expression] = Nil,
    step: Option[Expression] = None,
    untilNext: Option[UntilNext] = None)
    extends LogicalPlan with UnaryLike[LogicalPlan] {

  override def output: Seq[Attribute] = {
    val hidden = AttributeSet(Seq(start) ++ end)
    child.output.filterNot(hidden.contains)
  }

  override def maxRows: Option[Long] = child.maxRows

  /** A query over the relation is evaluated like one over tables: see `SlicedQuery`. */
  override def isStreaming: Boolean = false

  override protected def withNewChildInternal(newChild: LogicalPlan): ValidTime =
    copy(child = newChild)
}

/** The meaning of a NULL endpoint. */
sealed abstract class Nulls(val name: String) extends Product with Serializable
object Nulls {
  case object Unbounded extends Nulls("unbounded")
  case object Drop extends Nulls("drop")
  case object Error extends Nulls("error")
  val all: Seq[Nulls] = Seq(Unbounded, Drop, Error)
}

/** The treatment of a period without an instant: an empty or a reversed one. */
sealed abstract class Invalid(val name: String) extends Product with Serializable
object Invalid {
  case object Drop extends Invalid("drop")
  case object Error extends Invalid("error")
  val all: Seq[Invalid] = Seq(Drop, Error)
}

/** The ends that belong to a period. */
sealed abstract class Closed(val name: String, val movesStart: Boolean, val movesEnd: Boolean)
    extends Product with Serializable
object Closed {
  case object Left extends Closed("left", false, false)
  case object Right extends Closed("right", true, true)
  case object Both extends Closed("both", false, true)
  case object Neither extends Closed("neither", true, false)
  val all: Seq[Closed] = Seq(Left, Right, Both, Neither)

  /** Raises an error if ends must move, and the type has no smallest step. */
  def check(closed: Closed, dataType: DataType): Unit =
    if (closed != Left && !EndpointEncoding.isWhole(dataType) &&
      !dataType.isInstanceOf[DecimalType])
      TemporalErrors.periodType(
        Seq(dataType),
        s"closed => '${closed.name}' needs a type with a smallest step")
}

/** When `sequenced` writes the rows of a history of streams. */
sealed abstract class Emit(val name: String) extends Product with Serializable
object Emit {

  /** Once, when the period has ended. */
  case object Final extends Emit("final")

  /** As soon as it is certain, cut at the watermark. */
  case object Early extends Emit("early")
  val all: Seq[Emit] = Seq(Final, Early)
}
