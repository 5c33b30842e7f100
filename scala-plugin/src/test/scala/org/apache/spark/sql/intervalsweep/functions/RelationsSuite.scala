// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.intervalsweep.functions

import org.scalatest.funsuite.AnyFunSuite

class RelationsSuite extends AnyFunSuite {

  private case class Pair(rs: Int, re: Int, ss: Int, se: Int)

  private val meanings: Map[String, Pair => Boolean] = Map(
    "ALLEN_BEFORE" -> (p => p.re < p.ss),
    "ALLEN_AFTER" -> (p => p.se < p.rs),
    "ALLEN_MEETS" -> (p => p.re == p.ss),
    "ALLEN_MET_BY" -> (p => p.se == p.rs),
    "ALLEN_OVERLAPS" -> (p => p.rs < p.ss && p.ss < p.re && p.re < p.se),
    "ALLEN_OVERLAPPED_BY" -> (p => p.ss < p.rs && p.rs < p.se && p.se < p.re),
    "ALLEN_STARTS" -> (p => p.rs == p.ss && p.re < p.se),
    "ALLEN_STARTED_BY" -> (p => p.rs == p.ss && p.se < p.re),
    "ALLEN_DURING" -> (p => p.ss < p.rs && p.re < p.se),
    "ALLEN_CONTAINS" -> (p => p.rs < p.ss && p.se < p.re),
    "ALLEN_FINISHES" -> (p => p.ss < p.rs && p.re == p.se),
    "ALLEN_FINISHED_BY" -> (p => p.rs < p.ss && p.re == p.se),
    "ALLEN_EQUALS" -> (p => p.rs == p.ss && p.re == p.se),
    "ISEQL_START_PRECEDING" -> (p => p.rs <= p.ss && p.ss < p.re),
    "ISEQL_REVERSE_START_PRECEDING" -> (p => p.ss <= p.rs && p.rs < p.se),
    "ISEQL_END_FOLLOWING" -> (p => p.rs < p.se && p.se <= p.re),
    "ISEQL_REVERSE_END_FOLLOWING" -> (p => p.ss < p.re && p.re <= p.se),
    "ISEQL_BEFORE" -> (p => p.re <= p.ss),
    "ISEQL_AFTER" -> (p => p.se <= p.rs),
    "ISEQL_LEFT_OVERLAP" -> (p => p.rs <= p.ss && p.ss < p.re && p.re <= p.se),
    "ISEQL_RIGHT_OVERLAP" -> (p => p.ss <= p.rs && p.rs < p.se && p.se <= p.re),
    "ISEQL_DURING" -> (p => p.ss <= p.rs && p.re <= p.se),
    "ISEQL_REVERSE_DURING" -> (p => p.rs <= p.ss && p.se <= p.re),
    "INTERVAL_INTERSECTS" -> (p => p.rs < p.se && p.ss < p.re))

  private val distances: Map[String, Seq[Pair => Int]] = Map(
    "ISEQL_START_PRECEDING" -> Seq(p => p.ss - p.rs),
    "ISEQL_REVERSE_START_PRECEDING" -> Seq(p => p.rs - p.ss),
    "ISEQL_END_FOLLOWING" -> Seq(p => p.re - p.se),
    "ISEQL_REVERSE_END_FOLLOWING" -> Seq(p => p.se - p.re),
    "ISEQL_BEFORE" -> Seq(p => p.ss - p.re),
    "ISEQL_AFTER" -> Seq(p => p.rs - p.se),
    "ISEQL_LEFT_OVERLAP" -> Seq(p => p.ss - p.rs, p => p.se - p.re),
    "ISEQL_RIGHT_OVERLAP" -> Seq(p => p.rs - p.ss, p => p.re - p.se),
    "ISEQL_DURING" -> Seq(p => p.rs - p.ss, p => p.se - p.re),
    "ISEQL_REVERSE_DURING" -> Seq(p => p.ss - p.rs, p => p.re - p.se))

  /** All pairs of intervals, including empty and reversed ones. */
  private val pairs =
    for (a <- 0 to 4; b <- 0 to 4; c <- 0 to 4; d <- 0 to 4) yield Pair(a, b, c, d)

  private def at(p: Pair)(e: Endpoint): Int = Seq(p.rs, p.re, p.ss, p.se)(e.index)

  private def holds(relation: Relation, p: Pair): Boolean = relation.formula.forall { c =>
    val difference = at(p)(c.left) - at(p)(c.right)
    c.operator match {
      case Operator.Less => difference < 0
      case Operator.LessOrEqual => difference <= 0
      case Operator.Equal => difference == 0
    }
  }

  test("the relations are those that the meanings are written out for") {
    assert(Relations.all.map(_.name).toSet == meanings.keySet)
  }

  Relations.all.foreach { relation =>
    test(s"${relation.name} means its formula") {
      pairs.foreach(p => assert(holds(relation, p) == meanings(relation.name)(p), p))
    }

    test(s"${relation.name} measures its distances") {
      val measured = relation.parameters.map { case (_, d) =>
        (p: Pair) => at(p)(d.later) - at(p)(d.earlier)
      }
      val expected = distances.getOrElse(relation.name, Seq.empty)
      assert(measured.size == expected.size)
      pairs.foreach(p => assert(measured.map(_(p)) == expected.map(_(p)), p))
    }

    test(s"${relation.name} never holds at a negative distance") {
      for (p <- pairs if holds(relation, p); (_, d) <- relation.parameters)
        assert(at(p)(d.later) >= at(p)(d.earlier), p)
    }

    test(s"${relation.name} has an example of itself") {
      val Example((rs, re), (ss, se)) = relation.example
      assert(holds(relation, Pair(rs, re, ss, se)))
      assert(relation.parameters.forall { case (_, d) => relation.example.of(d) > 0 })
    }
  }

  test("exactly one of Allen's relations holds between two non-empty intervals") {
    val allen = Relations.all.filter(_.family == "allen")
    assert(allen.size == 13)
    pairs.filter(p => p.rs < p.re && p.ss < p.se)
      .foreach(p => assert(allen.count(holds(_, p)) == 1, p))
  }

  test("a relation is found by its name") {
    assert(Relations.named("ALLEN_MEETS").inverse == "ALLEN_MET_BY")
    assert(intercept[NoSuchElementException](
      Relations.named("ALLEN_NONE")).getMessage.contains("ALLEN_NONE"))
  }

  private def json(
      name: String = "A",
      inverse: String = "A",
      term: String = "r.ts = s.ts"): String =
    s"""{"relations": [{"name": "$name", "family": "f", "inverse": "$inverse", "summary": "",
       |  "formula": ["$term"], "delta": null, "epsilon": null, "example": {"r": [0, 1], "s": [0, 1]}}]}
       |""".stripMargin

  Seq(
    "no JSON" -> "nothing" -> "broken",
    "no relations" -> "{}" -> "relations",
    "a missing field" -> json().replace("summary", "resume") -> "summary",
    "an unknown endpoint" -> json(term = "r.tx = s.ts") -> "unknown endpoint 'r.tx'",
    "an unknown operator" -> json(term = "r.ts > s.ts") -> "unknown operator in 'r.ts > s.ts'",
    "half a comparison" -> json(term = "r.ts") -> "must compare two endpoints; got 'r.ts'",
    "half a distance" -> json().replace("\"delta\": null", "\"delta\": \"r.ts\"") ->
      "must be 'later - earlier'",
    "a broken example" -> json().replace("[0, 1], \"s\"", "[0], \"s\"") -> "two integers; got [0]",
    "an unknown inverse" -> json(inverse = "B") -> "B is not A with r and s swapped",
    "a wrong inverse" -> json(term = "r.ts < s.ts") -> "A is not A with r and s swapped").foreach {
    case ((what, resource), message) =>
      test(s"the resource is refused: $what") {
        val error = intercept[IllegalStateException](Relations.parse(resource))
        assert(error.getMessage.contains(Relations.Resource))
        assert(error.getMessage.contains(message))
      }
  }

  test("the resource is refused: a relation twice") {
    val once = json()
    val twice = once.replace("}]}", "}," + once.substring(once.indexOf("[{") + 1))
    assert(intercept[IllegalStateException](Relations.parse(twice)).getMessage.contains("A twice"))
  }
}
