// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.aggregates

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.execution.{CodegenSupport, UnaryExecNode}

/** The generated code of a node that returns rows of its own after the last row of its child. */
trait RowsAfterInput extends UnaryExecNode with CodegenSupport {

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()

  /** This node has a loop of its own, which a LIMIT may stop. */
  override protected def canCheckLimitNotReached: Boolean = true

  /**
   * Reads the child, and then returns the node's own rows. The child's code is a method of its own,
   * called no more after the child's last row: a sort merge join that is over returns from the
   * method that has its code.
   *
   * @param rest a Java expression for the node's own rows, an iterator of UnsafeRow; evaluated
   *   after the last row of the child
   * @param each Java code for each of these rows
   */
  protected def produceWithRest(ctx: CodegenContext, rest: String, each: String): String = {
    val rows = ctx.addMutableState(classOf[Iterator[_]].getName, "restRows", forceInline = true)
    val row = ctx.freshName("restRow")
    val read = ctx.freshName("readInput")
    val input = child.asInstanceOf[CodegenSupport].produce(ctx, this)
    val readInput = ctx.addNewFunction(
      read,
      s"""
         |private void $read() throws java.io.IOException {
         |  $input
         |}
       """.stripMargin)
    s"""
       |if ($rows == null) {
       |  $readInput();
       |  if (shouldStop()) return;
       |  $rows = $rest;
       |}
       |while ($limitNotReachedCond $rows.hasNext()) {
       |  UnsafeRow $row = (UnsafeRow) $rows.next();
       |  $each
       |  ${consume(ctx, null, row)}
       |  if (shouldStop()) return;
       |}
     """.stripMargin
  }
}
