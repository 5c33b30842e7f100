// SPDX-License-Identifier: Apache-2.0
// The plugin is compiled against the jars of the very Spark that runs it: those of the installed
// pyspark, named by -Dspark.home or SPARK_HOME (the Makefile sets it). There is a jar for each minor
// version of Spark, a "series"; what differs between them is in the folders of `shims` below. Only
// scalatest is downloaded.

Global / onChangedBuildSource := ReloadOnSourceChanges
Global / bspEnabled := false
Global / concurrentRestrictions := Seq(Tags.limitAll(2), Tags.limit(Tags.ForkedTestGroup, 2))

val versionFile = file("python") / "intervalsweep" / "_version.py"
val knownSeries = """\d+\.\d+""".r.findAllIn(inPython("SPARK_SERIES")).toSeq
val sparkSeries = seriesOf(sparkHome)
val pythonFolder = settingKey[File]("The Python sources, which travel in the jar")
val sparkJars = taskKey[Classpath]("The jars of the installed Spark")

lazy val root = (project in file("."))
  .settings(
    name := "intervalsweep",
    moduleName := s"intervalsweep-spark$sparkSeries",
    organization := "org.intervalsweep",
    licenses := Seq(License.Apache2),
    scalaVersion := "2.13.18",
    pythonFolder := baseDirectory.value / "python",
    version := inPython("__version__").replace("\"", ""),
    sourceDirectory := baseDirectory.value / "scala-plugin" / "src",
    Compile / unmanagedSourceDirectories ++= shims((Compile / sourceDirectory).value),
    target := baseDirectory.value / "target" / s"spark-$sparkSeries",
    scalacOptions ++= Seq(
      "-encoding",
      "UTF-8",
      "-release",
      "17",
      "-deprecation",
      "-feature",
      "-Werror",
      "-Xlint:_",
      "-Wunused:_"),

    // Spark's jars hold the Scala library too.
    autoScalaLibrary := false,
    sparkJars := (sparkHome / "jars" * "*.jar").classpath,
    Compile / unmanagedJars ++= sparkJars.value,
    Test / unmanagedJars ++= sparkJars.value,
    libraryDependencies += "org.scalatest" %% "scalatest" % "3.2.19" % Test,

    Compile / resourceGenerators += pythonInJar.taskValue,
    Compile / resourceGenerators += versionInJar.taskValue,
    Compile / packageBin / mappings ++=
      Seq("LICENSE", "NOTICE").map(n => baseDirectory.value / n -> s"META-INF/$n"),
    Compile / packageBin / artifactPath :=
      baseDirectory.value / "target" / "jars" / jarName(version.value),
    Compile / packageDoc / publishArtifact := false,

    Test / fork := true,
    Test / baseDirectory := target.value / "test-run",
    // Each test is new code, which an optimizing compiler does not make up for.
    Test / javaOptions ++= sparkJavaOptions ++
      Seq("-Xmx2g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Duser.timezone=UTC"),
    Test / testGrouping := twoGroups((Test / definedTests).value, (Test / forkOptions).value),
    Test / javaOptions +=
      s"-Dlog4j2.configurationFile=${baseDirectory.value / "sql-examples" / "log4j2.properties"}",
    Test / javaOptions += s"-Dspark.sql.warehouse.dir=${target.value / "test-run" / "warehouse"}",
    Test / javaOptions += s"-Dintervalsweep.repository=${baseDirectory.value}",
    Test / test := (Test / test).dependsOn(makeTestFolder).value,
    Test / testOnly := (Test / testOnly).dependsOn(makeTestFolder).evaluated)

val makeTestFolder = taskKey[Unit]("Makes the folder in which the tests run")
makeTestFolder := IO.createDirectory((Test / baseDirectory).value)

/** Two JVMs, one for each core: those that share a session, and the others. */
def twoGroups(suites: Seq[TestDefinition], options: ForkOptions): Seq[Tests.Group] = {
  val (functions, others) = suites.partition(_.name.contains(".functions."))
  Seq("functions" -> functions, "others" -> others)
    .map { case (name, some) => Tests.Group(name, some, Tests.SubProcess(options)) }
}

/** The worker needs no file but the jar: `python/` holds its sources, `intervalsweep/` the relations. */
def pythonInJar = Def.task {
  val source = pythonFolder.value
  val out = (Compile / resourceManaged).value
  val files = (source ** ("*.py" | "*.json")).get().filter(_.isFile)
  val relations = source / "intervalsweep" / "relations.json"
  val copies =
    files.map(f => f -> out / "python" / source.relativize(f).get.getPath) :+
      (relations -> out / "intervalsweep" / "relations.json")
  Sync.sync(streams.value.cacheStoreFactory.make("python"))(copies)
  copies.map(_._2)
}

def versionInJar = Def.task {
  val file = (Compile / resourceManaged).value / "intervalsweep" / "version.properties"
  IO.write(
    file,
    s"version=${version.value}\nspark=$sparkSeries\nsparks=${knownSeries.mkString(" ")}\nscala=2.13\n")
  Seq(file)
}

/** Also known to intervalsweep.session, which looks for this file. */
def jarName(version: String) = s"intervalsweep-spark${sparkSeries}_2.13-$version.jar"

/** What a line of the file of versions assigns. */
def inPython(name: String): String =
  IO.readLines(versionFile).find(_.startsWith(name + " = ")).map(_.drop(name.length + 3)).getOrElse(
    sys.error(s"$versionFile holds no line $name = ..."))

def sparkHome: File =
  sys.props.get("spark.home").orElse(sys.env.get("SPARK_HOME")).map(file).getOrElse(
    sys.error("Say which Spark to build against: `make build` does, or set SPARK_HOME."))

def seriesOf(sparkHome: File): String =
  knownSeries.find(s => (sparkHome / "jars" * s"spark-sql_2.13-$s.*.jar").get().nonEmpty).getOrElse(
    sys.error(s"No Spark ${knownSeries.mkString(", ")} with Scala 2.13 in $sparkHome/jars."))

/** Folders such as scala-spark-4.1-4.2: sources for those series only, the first to the last. */
def shims(main: File): Seq[File] = (main * "scala-spark-*").get().filter { folder =>
  val ends = folder.name.stripPrefix("scala-spark-").split('-').map(knownSeries.indexOf(_))
  val ours = knownSeries.indexOf(sparkSeries)
  ends.head <= ours && ours <= ends.last
}

/** What Spark's launcher gives every JVM of its own (`org.apache.spark.launcher.JavaModuleOptions`). */
def sparkJavaOptions: Seq[String] = {
  val javaBase = Seq(
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "jdk.internal.ref",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar")
  Seq("-XX:+IgnoreUnrecognizedVMOptions", "--add-modules=jdk.incubator.vector") ++
    javaBase.map(p => s"--add-opens=java.base/$p=ALL-UNNAMED") ++
    Seq(
      "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
      "-Dio.netty.tryReflectionSetAccessible=true",
      "--enable-native-access=ALL-UNNAMED")
}
