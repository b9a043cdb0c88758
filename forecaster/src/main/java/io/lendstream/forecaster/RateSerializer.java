package io.lendstream.forecaster;

import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SizeCount;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.types.StringValue;

/**
 * Serializes request rates between tasks, by field. The job moves each of them once, and the Avro format took half of
 * its time. They are in no checkpoint, so the format may change with any version.
 */
final class RateSerializer extends ImmutableSerializer<RequestRate> {
    private static final long serialVersionUID = 1L;

    static final ValueType<RequestRate> TYPE = new ValueType<>(RequestRate.class, new RateSerializer());

    @Override
    public void serialize(RequestRate rate, DataOutputView target) throws IOException {
        StringValue.writeString(rate.service().value(), target);
        StringValue.writeString(rate.domain().value(), target);
        StringValue.writeString(rate.source(), target);
        StringValue.writeString(rate.bootId(), target);
        target.writeLong(rate.sequence());
        target.writeLong(rate.windowStart().toEpochMilli());
        target.writeLong(rate.windowEnd().toEpochMilli());
        target.writeLong(rate.requests().arrivals());
        target.writeLong(rate.requests().completions());
        target.writeInt(rate.requests().inFlight());
        target.writeInt(rate.requests().queueDepth());
        writeOptional(rate.latency().p50LatencySeconds(), target);
        writeOptional(rate.latency().p99LatencySeconds(), target);
        target.writeInt(rate.inputSizes().size());
        for (SizeCount size : rate.inputSizes()) {
            target.writeDouble(size.upTo());
            target.writeLong(size.requests());
        }
        target.writeInt(rate.batches().size());
        for (BatchTimes times : rate.batches()) {
            StringValue.writeString(times.profile().orElse(null), target);
            target.writeInt(times.batch());
            target.writeDouble(times.size());
            target.writeLong(times.count());
            target.writeDouble(times.meanMillis());
        }
    }

    @Override
    public RequestRate deserialize(DataInputView source) throws IOException {
        return new RequestRate(
                new ServiceId(StringValue.readString(source)),
                new DomainId(StringValue.readString(source)),
                StringValue.readString(source),
                StringValue.readString(source),
                source.readLong(),
                Instant.ofEpochMilli(source.readLong()),
                Instant.ofEpochMilli(source.readLong()),
                new RequestRate.Requests(source.readLong(), source.readLong(), source.readInt(), source.readInt()),
                new RequestRate.Latency(readOptional(source), readOptional(source)),
                readSizes(source),
                readBatches(source));
    }

    private static List<SizeCount> readSizes(DataInputView source) throws IOException {
        List<SizeCount> sizes = new ArrayList<>();
        for (int left = source.readInt(); left > 0; left--) {
            sizes.add(new SizeCount(source.readDouble(), source.readLong()));
        }
        return sizes;
    }

    /** Their kind of GPU is left out, as no forecast needs it. */
    private static List<BatchTimes> readBatches(DataInputView source) throws IOException {
        List<BatchTimes> batches = new ArrayList<>();
        for (int left = source.readInt(); left > 0; left--) {
            batches.add(new BatchTimes(
                    Optional.ofNullable(StringValue.readString(source)),
                    source.readInt(),
                    source.readDouble(),
                    source.readLong(),
                    source.readDouble()));
        }
        return batches;
    }

    @Override
    public TypeSerializerSnapshot<RequestRate> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The format belongs to the class. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<RequestRate> {
        public Snapshot() {
            super(RateSerializer::new);
        }
    }
}
