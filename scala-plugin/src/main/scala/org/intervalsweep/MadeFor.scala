// SPDX-License-Identifier: Apache-2.0
package org.intervalsweep

import java.util.Properties

import scala.util.Using

import org.apache.spark.SPARK_VERSION

/** Checks that the minor version of Spark is the one that this jar was compiled for. */
private[intervalsweep] object MadeFor {

  /**
   * Throws an error if Spark has another minor version. It runs when the session starts. Otherwise
   * a query could fail later because of a missing class or method.
   */
  def check(): Unit = {
    val ours = properties
    val made = ours.getProperty("spark")
    val found = SPARK_VERSION.split('.').take(2).mkString(".")
    def jar(spark: String) = s"intervalsweep-spark${spark}_2.13-${ours.getProperty("version")}.jar"
    val known = ours.getProperty("sparks").split(' ')
    val advice =
      if (known.contains(found)) s"Load ${jar(found)} instead."
      else s"No jar exists for this version; there are jars for Spark ${known.mkString(", ")}."
    if (found != made)
      throw new IllegalStateException(
        s"The jar ${jar(made)} is for Spark $made, and this is Spark $SPARK_VERSION. $advice")
  }

  private def properties: Properties = {
    val loaded = new Properties
    Using.resource(getClass.getResourceAsStream("/intervalsweep/version.properties"))(loaded.load)
    loaded
  }
}
