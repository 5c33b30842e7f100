// SPDX-License-Identifier: Apache-2.0
// The artifact as a repository has it: org.intervalsweep:intervalsweep-spark4.3_2.13:<version>.

description :=
  "Interval joins for Spark SQL: Allen's and ISEQL's relations, swept instead of nested loops"
homepage := Some(url("https://intervalsweep.org"))
organizationName := "The IntervalSweep authors"
organizationHomepage := homepage.value
scmInfo := Some(
  ScmInfo(
    url("https://intervalsweep.org/source"),
    "scm:git:https://intervalsweep.org/source/intervalsweep.git"))
developers := List(
  Developer("intervalsweep", organizationName.value, "", url("https://intervalsweep.org")))

versionScheme := Some("early-semver")
publishMavenStyle := true
pomIncludeRepository := { _ => false }
// Spark is there, with the Scala library in it, and what the tests need concerns nobody else.
makePomConfiguration := makePomConfiguration.value.withConfigurations(Vector(Compile, Runtime))
publishTo := Some(MavenCache("target/repository", baseDirectory.value / "target" / "repository"))
// Each build replaces the one before it.
publishConfiguration := publishConfiguration.value.withOverwrite(true)
