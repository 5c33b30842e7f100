// SPDX-License-Identifier: Apache-2.0
package benchmarks.streams.flink;

import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/** Flink SQL's plans that look back: the join of a versioned table, and OVER the last rows. */
final class LastRows {
    private static final long ASKS = -1;

    private static final String AS_OF =
        """
        SELECT CAST(COALESCE(c.f2, 0) AS DOUBLE) AS n FROM asking a
        LEFT JOIN changes FOR SYSTEM_TIME AS OF a.ts AS c ON a.f0 = c.k""";

    private static final String LAST =
        """
        SELECT AVG(CAST(f2 AS DOUBLE)) OVER (PARTITION BY f0 ORDER BY ts
          ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS n FROM events""";

    private LastRows() {}

    /** The values that a plan makes of events. */
    static DataStream<Double> plan(
            StreamTableEnvironment tables,
            String kind,
            DataStream<Tuple3<Integer, Long, Long>> events,
            long lateness) {
        if (kind.equals("as_of")) {
            name(tables, events, lateness);
        } else {
            tables.createTemporaryView(
                "events",
                events.assignTimestampsAndWatermarks(Histories.clock(lateness)).setParallelism(1),
                OverUnion.withTime());
        }
        return tables
            .toDataStream(tables.sqlQuery(kind.equals("as_of") ? AS_OF : LAST))
            .map((Row row) -> row.<Double>getFieldAs(0))
            .returns(Types.DOUBLE);
    }

    /** Names the rows that ask, and the changes as a table with versions. */
    private static void name(
            StreamTableEnvironment tables,
            DataStream<Tuple3<Integer, Long, Long>> events,
            long lateness) {
        DataStream<Tuple3<Integer, Long, Long>> asking =
            events
                .filter(event -> event.f2 == ASKS)
                .setParallelism(1)
                .assignTimestampsAndWatermarks(Histories.clock(lateness, event -> true))
                .setParallelism(1);
        tables.createTemporaryView("asking", asking, OverUnion.withTime());
        DataStream<Row> changes =
            events
                .filter(event -> event.f2 != ASKS)
                .setParallelism(1)
                .assignTimestampsAndWatermarks(Histories.clock(lateness, event -> true))
                .setParallelism(1)
                .map(event -> Row.ofKind(RowKind.UPDATE_AFTER, event.f0, event.f2))
                .returns(Types.ROW_NAMED(new String[] {"k", "f2"}, Types.INT, Types.LONG))
                .setParallelism(1);
        Schema versions =
            Schema.newBuilder()
                .column("k", "INT NOT NULL")
                .column("f2", "BIGINT")
                .columnByMetadata("ts", "TIMESTAMP_LTZ(3)", "rowtime", true)
                .watermark("ts", "SOURCE_WATERMARK()")
                .primaryKey("k")
                .build();
        tables.createTemporaryView(
            "changes", tables.fromChangelogStream(changes, versions, ChangelogMode.upsert()));
    }
}
