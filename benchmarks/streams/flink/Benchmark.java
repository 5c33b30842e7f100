// SPDX-License-Identifier: Apache-2.0
package benchmarks.streams.flink;

import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/**
 * Runs one plan over one workload, and prints one line of JSON.
 *
 * <p>Arguments: over, join, keyoij or pairs; the folder of the columns; the milliseconds of the
 * window and of the lateness; how many events come before the clock starts; a cap in seconds; the
 * cores.
 */
final class Benchmark {
    private static final String LINE =
        """
        {"complete": %b, "warm": %b, "events": %d, "measured": %d, "seconds": %.3f, "cpu": %.2f, \
        "rows": %d, "pairs": %d, "sum": %.6f}""";

    private Benchmark() {}

    public static void main(String[] arguments) throws Exception {
        long window = Long.parseLong(arguments[2]);
        long lateness = Long.parseLong(arguments[3]);
        int warm = Integer.parseInt(arguments[4]);
        Events.read(Path.of(arguments[1]), warm);
        StreamExecutionEnvironment flink =
            StreamExecutionEnvironment.createLocalEnvironment(Integer.parseInt(arguments[6]));
        flink.getConfig().enableObjectReuse();
        DataStream<Event> events = Events.stream(flink, lateness);
        Totals.of(plan(arguments[0], flink, events, window));
        double before = cpuSeconds();
        boolean complete = runs(flink, Long.parseLong(arguments[5]));
        System.out.println(line(complete, warm, System.nanoTime(), cpuSeconds() - before));
        // What still runs at the cap would go on.
        Runtime.getRuntime().halt(0);
    }

    private static DataStream<Features> plan(
            String name, StreamExecutionEnvironment flink, DataStream<Event> events, long window) {
        return switch (name) {
            case "over" -> OverUnion.plan(StreamTableEnvironment.create(flink), events, window);
            case "join" -> JoinThenAggregate.plan(events, window);
            case "pairs" -> OverlapPairs.plan(events, window);
            case "keyoij" -> KeyOij.plan(events, window);
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** Whether it ended within the cap. */
    private static boolean runs(StreamExecutionEnvironment flink, long cap) throws Exception {
        JobClient job = flink.executeAsync();
        try {
            job.getJobExecutionResult().get(cap, TimeUnit.SECONDS);
            return true;
        } catch (TimeoutException late) {
            return false;
        }
    }

    private static double cpuSeconds() {
        return ProcessHandle.current().info().totalCpuDuration().get().toMillis() / 1e3;
    }

    /**
     * The rate is without the events before the clock started; if it did not, since the first base
     * row, or of all there were.
     */
    private static String line(boolean complete, int warm, long endedAt, double cpu) {
        int emitted = Events.emitted;
        boolean isWarm = Events.warmAt != 0;
        boolean hasBase = Events.baseAt != 0;
        int skipped = isWarm ? warm : hasBase ? Events.firstBase : 0;
        long since = isWarm ? Events.warmAt : hasBase ? Events.baseAt : Events.startedAt;
        return String.format(
            Locale.ROOT,
            LINE,
            complete,
            isWarm,
            emitted,
            emitted - skipped,
            (endedAt - since) / 1e9,
            cpu,
            Totals.ROWS.sum(),
            Totals.PAIRS.sum(),
            Totals.SUM.sum());
    }
}
