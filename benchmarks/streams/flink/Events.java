// SPDX-License-Identifier: Apache-2.0
package benchmarks.streams.flink;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The events of a workload, in memory, in the order in which they arrive. All of Flink runs in this
 * process, so that the source can take them from here, and tell from when to when it ran.
 */
final class Events {
    private static long[] times;
    private static int[] keys;
    private static double[] values;
    private static byte[] probes;
    private static int warm;

    static volatile int emitted;
    static volatile long startedAt;
    static volatile long warmAt;
    static volatile int firstBase;
    static volatile long baseAt;

    private Events() {}

    /**
     * Reads the columns that `workloads.py` has written.
     *
     * @param unmeasured how many events come before the clock starts
     */
    static void read(Path folder, int unmeasured) throws IOException {
        ByteBuffer bytes = column(folder, "ts");
        times = new long[bytes.remaining() / Long.BYTES];
        bytes.asLongBuffer().get(times);
        keys = new int[times.length];
        column(folder, "key").asIntBuffer().get(keys);
        values = new double[times.length];
        column(folder, "value").asDoubleBuffer().get(values);
        probes = Files.readAllBytes(folder.resolve("is_probe.bin"));
        warm = unmeasured;
    }

    private static ByteBuffer column(Path folder, String name) throws IOException {
        byte[] bytes = Files.readAllBytes(folder.resolve(name + ".bin"));
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** A stream of all of them, by one task, none of which is late. */
    static DataStream<Event> stream(StreamExecutionEnvironment flink, long lateness) {
        WatermarkStrategy<Event> clock =
            WatermarkStrategy.<Event>forGenerator(context -> new Clock<>(lateness, event -> true))
                .withTimestampAssigner((event, none) -> event.time());
        return flink
            .fromSequence(0, times.length - 1)
            .setParallelism(1)
            .map(Events::emit)
            .returns(TypeInformation.of(Event.class))
            .setParallelism(1)
            .assignTimestampsAndWatermarks(clock)
            .setParallelism(1);
    }

    private static Event emit(long number) {
        int i = (int) number;
        if (i == 0) {
            startedAt = System.nanoTime();
        }
        if (i == warm) {
            warmAt = System.nanoTime();
        }
        if (baseAt == 0 && probes[i] == 0) {
            firstBase = i;
            baseAt = System.nanoTime();
        }
        emitted = i + 1;
        return new Event(i, probes[i] != 0, keys[i], times[i], values[i]);
    }
}
