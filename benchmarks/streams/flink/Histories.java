// SPDX-License-Identifier: Apache-2.0
package benchmarks.streams.flink;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;

/**
 * Flink SQL's plans of two histories: OVER the events, and the running sum of the starts and the
 * ends of periods.
 */
final class Histories {
    static volatile long startedAt;
    static volatile long warmAt;
    static volatile int read;

    private static final String SLIDING =
        """
        SELECT AVG(CAST(f2 AS DOUBLE)) OVER (PARTITION BY f0 ORDER BY ts
          RANGE BETWEEN INTERVAL '%s' DAY TO SECOND PRECEDING AND CURRENT ROW) AS n FROM events""";

    private static final String RUNNING =
        """
        SELECT CAST(SUM(f2) OVER (PARTITION BY f0 ORDER BY ts
          RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS DOUBLE) AS n FROM events""";

    private Histories() {}

    /** The values of the history that a plan makes of the rows of a file. */
    static DataStream<Double> plan(
            StreamExecutionEnvironment flink,
            String kind,
            String file,
            long length,
            long lateness,
            int warm) {
        boolean isSliding = kind.equals("sliding");
        StreamTableEnvironment tables = StreamTableEnvironment.create(flink);
        DataStream<Tuple3<Integer, Long, Long>> rows =
            rows(flink, file, warm)
                .flatMap(kind.equals("running") ? Histories::startAndEnd : Histories::event)
                .returns(Types.TUPLE(Types.INT, Types.LONG, Types.LONG))
                .setParallelism(1);
        if (kind.equals("as_of") || kind.equals("last")) {
            return LastRows.plan(tables, kind, rows, lateness);
        }
        DataStream<Tuple3<Integer, Long, Long>> events =
            rows.assignTimestampsAndWatermarks(clock(lateness)).setParallelism(1);
        tables.createTemporaryView("events", events, OverUnion.withTime());
        String query = isSliding ? SLIDING.formatted(OverUnion.interval(length)) : RUNNING;
        return tables
            .toDataStream(tables.sqlQuery(query))
            .map((Row row) -> row.<Double>getFieldAs(0))
            .returns(Types.DOUBLE);
    }

    private static DataStream<String> rows(
            StreamExecutionEnvironment flink, String file, int warm) {
        FileSource<String> source =
            FileSource.forRecordStreamFormat(new TextLineInputFormat(), new Path(file)).build();
        return flink
            .fromSource(source, WatermarkStrategy.noWatermarks(), "rows")
            .setParallelism(1)
            .map(
                line -> {
                    if (read == 0) {
                        startedAt = System.nanoTime();
                    }
                    if (read == warm) {
                        warmAt = System.nanoTime();
                    }
                    read++;
                    return line;
                })
            .returns(TypeInformation.of(String.class))
            .setParallelism(1);
    }

    /** The key, the start, and the end or the value. */
    private static Tuple3<Integer, Long, Long> parsed(String line) {
        int first = line.indexOf(',');
        int second = line.indexOf(',', first + 1);
        return Tuple3.of(
            Integer.parseInt(line, 0, first, 10),
            Long.parseLong(line, first + 1, second, 10),
            Long.parseLong(line, second + 1, line.length(), 10));
    }

    private static void event(String line, Collector<Tuple3<Integer, Long, Long>> out) {
        out.collect(parsed(line));
    }

    private static void startAndEnd(String line, Collector<Tuple3<Integer, Long, Long>> out) {
        Tuple3<Integer, Long, Long> row = parsed(line);
        out.collect(Tuple3.of(row.f0, row.f1, 1L));
        out.collect(Tuple3.of(row.f0, row.f2, -1L));
    }

    /** The watermark follows events and the starts of periods, not their ends. */
    static WatermarkStrategy<Tuple3<Integer, Long, Long>> clock(long lateness) {
        return clock(lateness, event -> event.f2 > 0);
    }

    static WatermarkStrategy<Tuple3<Integer, Long, Long>> clock(
            long lateness, SerializablePredicate isFollowed) {
        return WatermarkStrategy.<Tuple3<Integer, Long, Long>>forGenerator(
                context -> new Clock<>(lateness, isFollowed))
            .withTimestampAssigner((event, none) -> event.f1);
    }

    /** A condition on events, which tasks receive. */
    interface SerializablePredicate
        extends java.util.function.Predicate<Tuple3<Integer, Long, Long>>, java.io.Serializable {}
}
