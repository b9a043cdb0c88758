package io.lendstream.forecaster;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.RecentCoverage;
import io.lendstream.core.event.RoleQuantiles;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.types.StringValue;

/** Serializes forecasts between tasks, by field. They are in no checkpoint, so the format may change. */
final class ForecastSerializer extends ImmutableSerializer<DemandForecast> {
    private static final long serialVersionUID = 1L;

    static final ValueType<DemandForecast> TYPE = new ValueType<>(DemandForecast.class, new ForecastSerializer());

    @Override
    public void serialize(DemandForecast forecast, DataOutputView target) throws IOException {
        StringValue.writeString(forecast.service().value(), target);
        StringValue.writeString(forecast.domain().value(), target);
        target.writeLong(forecast.issuedAt().toEpochMilli());
        target.writeLong(forecast.step().toMillis());
        StringValue.writeString(forecast.model(), target);
        target.writeInt(forecast.horizons().size());
        for (HorizonQuantiles line : forecast.horizons()) {
            target.writeLong(line.horizon().toMillis());
            target.writeDouble(line.p10());
            target.writeDouble(line.p50());
            target.writeDouble(line.p90());
            target.writeDouble(line.p99());
            target.writeBoolean(line.gpus().isPresent());
            if (line.gpus().isPresent()) {
                write(line.gpus().get(), target);
            }
            target.writeBoolean(line.recent().isPresent());
            if (line.recent().isPresent()) {
                write(line.recent().get(), target);
            }
            target.writeInt(line.roles().size());
            for (RoleQuantiles role : line.roles()) {
                write(role, target);
            }
        }
        writeOptional(forecast.recentError(), target);
        writeOptional(forecast.recentCoverage90(), target);
    }

    @Override
    public DemandForecast deserialize(DataInputView source) throws IOException {
        return new DemandForecast(
                new ServiceId(StringValue.readString(source)),
                new DomainId(StringValue.readString(source)),
                Instant.ofEpochMilli(source.readLong()),
                Duration.ofMillis(source.readLong()),
                StringValue.readString(source),
                readHorizons(source),
                readOptional(source),
                readOptional(source));
    }

    private static List<HorizonQuantiles> readHorizons(DataInputView source) throws IOException {
        List<HorizonQuantiles> horizons = new ArrayList<>();
        for (int left = source.readInt(); left > 0; left--) {
            horizons.add(new HorizonQuantiles(
                    Duration.ofMillis(source.readLong()),
                    source.readDouble(),
                    source.readDouble(),
                    source.readDouble(),
                    source.readDouble(),
                    source.readBoolean() ? Optional.of(readGpus(source)) : Optional.empty(),
                    source.readBoolean() ? Optional.of(readCoverage(source)) : Optional.empty(),
                    readRoles(source)));
        }
        return horizons;
    }

    private static void write(RoleQuantiles role, DataOutputView target) throws IOException {
        StringValue.writeString(role.role().name(), target);
        target.writeInt(role.p10());
        target.writeInt(role.p50());
        target.writeInt(role.p90());
        target.writeInt(role.p99());
    }

    private static List<RoleQuantiles> readRoles(DataInputView source) throws IOException {
        List<RoleQuantiles> roles = new ArrayList<>();
        for (int left = source.readInt(); left > 0; left--) {
            roles.add(new RoleQuantiles(
                    ReplicaRole.valueOf(StringValue.readString(source)),
                    source.readInt(),
                    source.readInt(),
                    source.readInt(),
                    source.readInt()));
        }
        return roles;
    }

    private static void write(GpuQuantiles gpus, DataOutputView target) throws IOException {
        target.writeInt(gpus.p10());
        target.writeInt(gpus.p50());
        target.writeInt(gpus.p90());
        target.writeInt(gpus.p99());
    }

    private static GpuQuantiles readGpus(DataInputView source) throws IOException {
        return new GpuQuantiles(source.readInt(), source.readInt(), source.readInt(), source.readInt());
    }

    private static void write(RecentCoverage recent, DataOutputView target) throws IOException {
        target.writeDouble(recent.p90());
        target.writeDouble(recent.p99());
        target.writeInt(recent.forecasts());
    }

    private static RecentCoverage readCoverage(DataInputView source) throws IOException {
        return new RecentCoverage(source.readDouble(), source.readDouble(), source.readInt());
    }

    @Override
    public TypeSerializerSnapshot<DemandForecast> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The format belongs to the class. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<DemandForecast> {
        public Snapshot() {
            super(ForecastSerializer::new);
        }
    }
}
