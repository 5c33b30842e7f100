// SPDX-License-Identifier: Apache-2.0
package benchmarks.streams.flink;

import java.time.Duration;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;

/**
 * SQL's OVER on both sides together: a window that ends with each row, of which those of the base
 * are kept. Rows of the same instant are in the window, as RANGE has it. Exact.
 */
final class OverUnion {
    private static final String QUERY =
        """
        SELECT n, total, greatest FROM (
          SELECT is_probe, COUNT(partner) OVER w AS n, SUM(partner) OVER w AS total,
            MAX(partner) OVER w AS greatest
          FROM (SELECT f1 AS is_probe, f2 AS k, ts, CASE WHEN f1 THEN f4 END AS partner FROM events)
          WINDOW w AS (PARTITION BY k ORDER BY ts
            RANGE BETWEEN INTERVAL '%s' DAY TO SECOND PRECEDING AND CURRENT ROW))
        WHERE NOT is_probe""";

    private OverUnion() {}

    static DataStream<Features> plan(
            StreamTableEnvironment tables, DataStream<Event> events, long window) {
        tables.createTemporaryView("events", events, withTime());
        Table found = tables.sqlQuery(QUERY.formatted(interval(window)));
        return tables
            .toDataStream(found)
            .map(OverUnion::features)
            .returns(TypeInformation.of(Features.class));
    }

    private static Features features(Row row) {
        Features features = new Features();
        features.f0 = row.getFieldAs(0);
        if (features.f0 > 0) {
            features.f1 = row.getFieldAs(1);
            features.f2 = row.getFieldAs(2);
        }
        return features;
    }

    /** The columns of events, and the event time `ts`. */
    static Schema withTime() {
        return Schema.newBuilder()
            .columnByMetadata("ts", DataTypes.TIMESTAMP_LTZ(3), "rowtime", true)
            .watermark("ts", "SOURCE_WATERMARK()")
            .build();
    }

    /** As SQL writes it: days, hours, minutes, seconds. */
    static String interval(long millis) {
        Duration d = Duration.ofMillis(millis);
        return "%d %02d:%02d:%02d.%03d"
            .formatted(
                d.toDaysPart(),
                d.toHoursPart(),
                d.toMinutesPart(),
                d.toSecondsPart(),
                d.toMillisPart());
    }
}
