package org.apache.spark.sql.intervalsweep.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator
import org.apache.spark.sql.execution.SparkInternals
import org.apache.spark.sql.execution.vectorized.{OnHeapColumnVector, WritableColumnVector}
import org.apache.spark.sql.types._

/**
 * One column of a [[RowBlock]]: values in a primitive array where the type has one, because a loop
 * over `long[]` emits several times as many pairs a second as one over rows (see
 * docs/decisions/0004-columns-in-the-inner-loop.md).
 *
 * Row `i` is the i-th row of the block. The arrays are public: generated code reads them.
 */
sealed abstract class BlockColumn(val dataType: DataType) {
  var nulls: Array[Boolean] = Array.emptyBooleanArray

  /** Bytes that a row takes in this column, as far as it is fixed. */
  def bytesPerRow: Int

  /** Makes room for `capacity` rows, keeping the first ones. */
  def grow(capacity: Int): Unit = nulls = java.util.Arrays.copyOf(nulls, capacity)

  /** Sets row `i` from a field of `row`. Rows are set in ascending order. */
  final def set(i: Int, row: InternalRow, ordinal: Int): Unit =
    if (row.isNullAt(ordinal)) setNull(i) else { nulls(i) = false; setValue(i, row, ordinal) }

  protected def setNull(i: Int): Unit = nulls(i) = true
  protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit

  /** Reorders the rows: row `i` becomes what row `order(i)` was. */
  def permute(order: Array[Int], n: Int): Unit = {
    val old = nulls
    nulls = new Array[Boolean](old.length)
    var i = 0
    while (i < n) { nulls(i) = old(order(i)); i += 1 }
  }

  /** Forgets all rows, keeping the memory. */
  def clear(): Unit = ()

  /** The value of row `i`, boxed as Catalyst boxes it; `null` for NULL. For interpreted plans. */
  final def boxed(i: Int): Any = if (nulls(i)) null else boxedValue(i)
  protected def boxedValue(i: Int): Any
}

/** BOOLEAN, TINYINT, SMALLINT, INT, DATE and year-month intervals. */
final class IntColumn(dataType: DataType) extends BlockColumn(dataType) {
  var values: Array[Int] = Array.emptyIntArray

  /** Bytes of a value in a row; 0 for a Boolean. A number, as it is asked for with every row. */
  private val width = dataType match {
    case BooleanType => 0
    case ByteType => 1
    case ShortType => 2
    case _ => 4
  }
  override def bytesPerRow: Int = 5
  override def grow(capacity: Int): Unit = {
    super.grow(capacity)
    values = java.util.Arrays.copyOf(values, capacity)
  }
  override protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit =
    values(i) = width match {
      case 4 => row.getInt(ordinal)
      case 2 => row.getShort(ordinal).toInt
      case 1 => row.getByte(ordinal).toInt
      case _ => if (row.getBoolean(ordinal)) 1 else 0
    }
  override def permute(order: Array[Int], n: Int): Unit = {
    super.permute(order, n)
    val old = values
    values = new Array[Int](old.length)
    var i = 0
    while (i < n) { values(i) = old(order(i)); i += 1 }
  }
  override protected def boxedValue(i: Int): Any = width match {
    case 4 => values(i)
    case 2 => values(i).toShort
    case 1 => values(i).toByte
    case _ => values(i) != 0
  }
}

/** BIGINT, TIMESTAMP, TIMESTAMP_NTZ and day-time intervals. */
final class LongColumn(dataType: DataType) extends BlockColumn(dataType) {
  var values: Array[Long] = Array.emptyLongArray
  override def bytesPerRow: Int = 9
  override def grow(capacity: Int): Unit = {
    super.grow(capacity)
    values = java.util.Arrays.copyOf(values, capacity)
  }
  override protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit =
    values(i) = row.getLong(ordinal)
  override def permute(order: Array[Int], n: Int): Unit = {
    super.permute(order, n)
    values = EndpointOrder.permuted(values, order, n)
  }
  override protected def boxedValue(i: Int): Any = values(i)
}

/** FLOAT and DOUBLE; a float widened to double and back is the same float. */
final class DoubleColumn(dataType: DataType) extends BlockColumn(dataType) {
  var values: Array[Double] = Array.emptyDoubleArray
  override def bytesPerRow: Int = 9
  override def grow(capacity: Int): Unit = {
    super.grow(capacity)
    values = java.util.Arrays.copyOf(values, capacity)
  }
  override protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit =
    values(i) = if (dataType == FloatType) row.getFloat(ordinal).toDouble else row.getDouble(ordinal)
  override def permute(order: Array[Int], n: Int): Unit = {
    super.permute(order, n)
    val old = values
    values = new Array[Double](old.length)
    var i = 0
    while (i < n) { values(i) = old(order(i)); i += 1 }
  }
  override protected def boxedValue(i: Int): Any =
    if (dataType == FloatType) values(i).toFloat else values(i)
}

/** Every other type, in one of Spark's column vectors. Reordered by an index, not by moving. */
final class VectorColumn(dataType: DataType) extends BlockColumn(dataType) {
  private val physicalType = VectorColumn.withoutUserTypes(dataType)
  val vector = new OnHeapColumnVector(16, physicalType)
  private val vectors = Array[WritableColumnVector](vector)
  private val append = SparkInternals.valueAppender(physicalType)
  private var index: Array[Int] = _

  /** Where row `i` is in the vector. */
  def position(i: Int): Int = if (index == null) i else index(i)

  override def bytesPerRow: Int = 17
  override protected def setNull(i: Int): Unit = {
    super.setNull(i)
    vector.appendNull()
  }
  override protected def setValue(i: Int, row: InternalRow, ordinal: Int): Unit =
    append(row.get(ordinal, physicalType), vectors)
  override def permute(order: Array[Int], n: Int): Unit = {
    super.permute(order, n)
    val moved = new Array[Int](n)
    var i = 0
    while (i < n) { moved(i) = position(order(i)); i += 1 }
    index = moved
  }
  override def clear(): Unit = {
    vector.reset()
    index = null
  }
  override protected def boxedValue(i: Int): Any =
    SparkInternals.vectorRow(vectors, position(i)).get(0, physicalType)
}

object BlockColumn {

  /** An empty column for values of `dataType`. */
  def apply(dataType: DataType): BlockColumn = dataType match {
    case BooleanType | ByteType | ShortType | IntegerType | DateType |
        _: YearMonthIntervalType =>
      new IntColumn(dataType)
    case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType =>
      new LongColumn(dataType)
    case FloatType | DoubleType => new DoubleColumn(dataType)
    case _ => new VectorColumn(dataType)
  }

  /** Java source that reads the non-NULL value at `index` of the array (or vector) `values`. */
  def read(dataType: DataType, column: String, values: String, index: String): String =
    dataType match {
      case BooleanType => s"$values[$index] != 0"
      case ByteType => s"(byte) $values[$index]"
      case ShortType => s"(short) $values[$index]"
      case FloatType => s"(float) $values[$index]"
      case other =>
        arrayType(other) match {
          case Some(_) => s"$values[$index]"
          case None =>
            CodeGenerator.getValueFromVector(
              values,
              VectorColumn.withoutUserTypes(other),
              s"$column.position($index)")
        }
    }

  /** The Java type of the column's value array; None where the values sit in a vector. */
  def arrayType(dataType: DataType): Option[String] = dataType match {
    case BooleanType | ByteType | ShortType | IntegerType | DateType |
        _: YearMonthIntervalType =>
      Some("int[]")
    case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType => Some("long[]")
    case FloatType | DoubleType => Some("double[]")
    case _ => None
  }

  /** The Java class of the column. */
  def javaClass(dataType: DataType): String = (arrayType(dataType) match {
    case Some("int[]") => classOf[IntColumn]
    case Some("long[]") => classOf[LongColumn]
    case Some(_) => classOf[DoubleColumn]
    case None => classOf[VectorColumn]
  }).getName
}

object VectorColumn {

  /** The Java class of the vector. */
  def javaVector: String = classOf[OnHeapColumnVector].getName


  /** User-defined types as what they are stored as: Spark's vectors know no other. */
  def withoutUserTypes(dataType: DataType): DataType = dataType match {
    case user: UserDefinedType[_] => withoutUserTypes(user.sqlType)
    case StructType(fields) =>
      StructType(fields.map(f => f.copy(dataType = withoutUserTypes(f.dataType))))
    case ArrayType(element, nullable) => ArrayType(withoutUserTypes(element), nullable)
    case MapType(key, value, nullable) =>
      MapType(withoutUserTypes(key), withoutUserTypes(value), nullable)
    case other => other
  }
}
