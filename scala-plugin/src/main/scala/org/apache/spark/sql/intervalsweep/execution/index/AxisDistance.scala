// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.execution.index

import org.apache.spark.sql.intervalsweep.condition.expressions.EndpointEncoding
import org.apache.spark.sql.types.{DataType, DoubleType, FloatType}

/** Compares the distances between encoded values of one type, without overflow. */
sealed trait AxisDistance extends Serializable {

  /** Whether `center - below` is at most `above - center`. Neither difference is negative. */
  def isNearerBelow(below: Long, center: Long, above: Long): Boolean

  /** Whether a center is infinite: its distance to itself is NaN, the greatest distance. */
  def isInfinite(center: Long): Boolean = false
}

object AxisDistance {
  def of(dataType: DataType): AxisDistance = dataType match {
    case FloatType => OfFloats
    case DoubleType => OfDoubles
    case _ => OfNumbers
  }

  /** Differences of LONGs have up to 64 bits. */
  private case object OfNumbers extends AxisDistance {
    override def isNearerBelow(below: Long, center: Long, above: Long): Boolean =
      java.lang.Long.compareUnsigned(center - below, above - center) <= 0
  }

  private sealed trait OfFractions extends AxisDistance {
    override def isInfinite(center: Long): Boolean = EndpointEncoding.toDouble(center).isInfinite
  }

  /** A distance that is NaN, such as that of two infinite values, is the greatest one. */
  private case object OfDoubles extends OfFractions {
    override def isNearerBelow(below: Long, center: Long, above: Long): Boolean = {
      val middle = EndpointEncoding.toDouble(center)
      val down = middle - EndpointEncoding.toDouble(below)
      java.lang.Double.compare(down, EndpointEncoding.toDouble(above) - middle) <= 0
    }
  }

  /** Spark rounds a difference of FLOATs to FLOAT. */
  private case object OfFloats extends OfFractions {
    override def isNearerBelow(below: Long, center: Long, above: Long): Boolean = {
      val middle = EndpointEncoding.toDouble(center).toFloat
      val down = middle - EndpointEncoding.toDouble(below).toFloat
      java.lang.Float.compare(down, EndpointEncoding.toDouble(above).toFloat - middle) <= 0
    }
  }
}
