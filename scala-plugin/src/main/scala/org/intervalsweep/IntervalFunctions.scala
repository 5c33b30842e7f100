// SPDX-License-Identifier: Apache-2.0
package org.intervalsweep

/**
 * A function for each SQL function of IntervalSweep, for Scala and Java.
 *
 * {{{
 *   import org.intervalsweep.IntervalFunctions._
 *
 *   r.join(s, intervalIntersects(r("ts"), r("te"), s("ts"), s("te")))
 *   r.join(s, iseqlBefore(r("ts"), r("te"), s("ts"), s("te"), delta = lit(Duration.ofHours(1))))
 *   sequenced(validtime(works, "ts", "te").groupBy("skill").count())
 * }}}
 *
 * Intervals are half-open: `[ts, te)` includes its start and excludes its end. `r` is the left
 * operand of a relation and `s` the right operand: four endpoints or two structs with two fields
 * each. The endpoints must have a common type with an order, as for `greatest`: numbers, DATE,
 * TIMESTAMP and so on. A relation is a BOOLEAN, equivalent to its formula in SQL's three-valued
 * logic; NULL if a NULL endpoint leaves the formula undecided.
 *
 * `delta` and `epsilon` are upper limits on a distance: a number between numbers, a whole number of
 * days or an INTERVAL of days between dates, and an INTERVAL between timestamps, such as
 * `lit(java.time.Duration.ofMinutes(5))`.
 *
 * The session needs the extension [[IntervalSweepExtensions]]; without it the functions throw an
 * IllegalStateException. A function on columns looks at the session that is active on the calling
 * thread. Wrong types are an AnalysisException, when the column is used.
 */
object IntervalFunctions extends RelationFunctions with StreamFunctions with TableFunctions
