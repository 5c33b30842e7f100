// SPDX-License-Identifier: Apache-2.0
package benchmarks.streams.flink;

import java.util.function.Predicate;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;

/**
 * The watermark after each 256 events: with Flink's own, each 200 ms, more rows would be kept, and
 * plans that look at all rows of a key would be slower.
 */
final class Clock<T> implements WatermarkGenerator<T> {
    private static final int EVERY = 256;
    private final long lateness;
    private final Predicate<T> isFollowed;
    private long latest = Long.MIN_VALUE;
    private int events;

    /** A watermark that follows the events for which the predicate is true. */
    Clock(long lateness, Predicate<T> isFollowed) {
        this.lateness = lateness;
        this.isFollowed = isFollowed;
    }

    @Override
    public void onEvent(T event, long time, WatermarkOutput output) {
        if (isFollowed.test(event)) {
            latest = Math.max(latest, time);
            events++;
            if (events % EVERY == 0) {
                output.emitWatermark(new Watermark(latest - lateness - 1));
            }
        }
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {}
}
