// SPDX-License-Identifier: Apache-2.0
package org.intervalsweep

import java.util.Properties

import scala.util.Using

import org.apache.spark.SPARK_VERSION

/** The Spark that this jar was compiled against, which has to be the one that loads it. */
private[intervalsweep] object MadeFor {

  /**
   * Refuses a Spark of another minor version when the session starts: with it, some class or method
   * that is missing would show in the middle of a query.
   */
  def check(): Unit = {
    val ours = properties
    val made = ours.getProperty("spark")
    val found = SPARK_VERSION.split('.').take(2).mkString(".")
    def jar(spark: String) = s"intervalsweep-spark${spark}_2.13-${ours.getProperty("version")}.jar"
    val known = ours.getProperty("sparks").split(' ')
    val advice =
      if (known.contains(found)) s"Load ${jar(found)} instead."
      else s"There are jars for Spark ${known.mkString(", ")}, and none for this one."
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
