package io.lendstream.forecaster;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Forecasts between tasks, as their topic's Avro records. */
final class ForecastSerializer extends ImmutableSerializer<DemandForecast> {
    private static final long serialVersionUID = 1L;

    static final ValueType<DemandForecast> TYPE = new ValueType<>(DemandForecast.class, new ForecastSerializer());

    @Override
    public void serialize(DemandForecast forecast, DataOutputView target) throws IOException {
        AvroForm.write(TopicCatalogue.DEMAND_FORECASTS, forecast, target);
    }

    @Override
    public DemandForecast deserialize(DataInputView source) throws IOException {
        return AvroForm.read(TopicCatalogue.DEMAND_FORECASTS, source);
    }

    @Override
    public TypeSerializerSnapshot<DemandForecast> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The form is the class's own. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<DemandForecast> {
        public Snapshot() {
            super(ForecastSerializer::new);
        }
    }
}
