// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep

import java.nio.file.{Files, Paths}

/** Files of the repository that tests of other languages, or readers, use as well. */
object Repository {

  /** @param path the path from the root of the repository, which the build names */
  def read(path: String): String =
    Files.readString(Paths.get(sys.props("intervalsweep.repository"), path))
}
