package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Expression, SortOrder, SortPrefix, UnsafeProjection, UnsafeRow
}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering
import org.apache.spark.sql.execution.{SortPrefixUtils, UnsafeExternalRowSorter}
import org.apache.spark.sql.types.{LongType, StructType}

/**
 * Spark's external sort, which spills, by one 64-bit number: its radix sort does the whole order.
 *
 * @param order the number, bound to the rows
 */
case class RowSorter(schema: StructType, order: SortOrder) {
  require(order.dataType == LongType, "rows are sorted by one number")

  def sort(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val prefixOf = UnsafeProjection.create(Seq[Expression](SortPrefix(order)))
    val prefix = new UnsafeExternalRowSorter.PrefixComputer.Prefix
    val computer = new UnsafeExternalRowSorter.PrefixComputer {
      override def computePrefix(row: InternalRow)
          : UnsafeExternalRowSorter.PrefixComputer.Prefix = {
        val value = prefixOf(row)
        prefix.isNull = value.isNullAt(0)
        prefix.value = if (prefix.isNull) 0L else value.getLong(0)
        prefix
      }
    }
    val sorter = UnsafeExternalRowSorter.create(
      schema,
      GenerateOrdering.generate(Seq(order)),
      SortPrefixUtils.getPrefixComparator(order),
      computer,
      SparkEnv.get.memoryManager.pageSizeBytes,
      true)
    sorter.sort(rows.asInstanceOf[Iterator[UnsafeRow]])
  }
}
