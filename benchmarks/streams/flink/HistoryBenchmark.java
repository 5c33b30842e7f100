// SPDX-License-Identifier: Apache-2.0
package benchmarks.streams.flink;

import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/**
 * Runs the plan of a query over a file, with its state in RocksDB and a checkpoint each second, as
 * Spark commits its micro-batches; prints one line of JSON.
 *
 * <p>Arguments: running, sliding, as_of or last; the file; the milliseconds of the window and of
 * the lateness; how many rows come before the clock starts; the cores; a folder for checkpoints.
 */
final class HistoryBenchmark {
    private static final LongAdder ROWS = new LongAdder();
    private static final DoubleAdder SUM = new DoubleAdder();

    private HistoryBenchmark() {}

    public static void main(String[] arguments) throws Exception {
        int warm = Integer.parseInt(arguments[4]);
        Configuration settings = new Configuration();
        settings.setString("state.backend.type", "rocksdb");
        settings.setString("execution.checkpointing.incremental", "true");
        settings.setString("execution.checkpointing.interval", "1 s");
        settings.setString(
            "execution.checkpointing.dir", Path.of(arguments[6]).toAbsolutePath().toUri().toString());
        settings.setString("taskmanager.memory.managed.size", "1 gb");
        StreamExecutionEnvironment flink =
            StreamExecutionEnvironment.createLocalEnvironment(
                Integer.parseInt(arguments[5]), settings);
        flink.getConfig().enableObjectReuse();
        Histories.plan(
                flink,
                arguments[0],
                arguments[1],
                Long.parseLong(arguments[2]),
                Long.parseLong(arguments[3]),
                warm)
            .map(HistoryBenchmark::add)
            .returns(Types.BOOLEAN)
            .sinkTo(new DiscardingSink<>());
        flink.execute();
        long since = Histories.warmAt != 0 ? Histories.warmAt : Histories.startedAt;
        System.out.printf(
            Locale.ROOT,
            "{\"complete\": true, \"read\": %d, \"seconds\": %.3f, \"rows\": %d, \"sum\": %.6f}%n",
            Histories.read,
            (System.nanoTime() - since) / 1e9,
            ROWS.sum(),
            SUM.sum());
        System.exit(0);
    }

    private static boolean add(double value) {
        ROWS.increment();
        SUM.add(value);
        return true;
    }
}
