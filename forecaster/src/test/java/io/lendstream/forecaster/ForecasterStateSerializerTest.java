package io.lendstream.forecaster;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.service.Rates;
import io.lendstream.core.forecast.service.ServiceForecaster;
import io.lendstream.core.forecast.snapshot.StateWriter;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class ForecasterStateSerializerTest {
    private final ForecasterStateSerializer serializer = new ForecasterStateSerializer();

    @Test
    void bringsAForecasterBackAsItWas() throws Exception {
        var forecaster = forecaster();
        var out = new DataOutputSerializer(64);

        serializer.serialize(forecaster, out);
        var again = serializer.deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));

        assertThat(again.snapshot()).isEqualTo(forecaster.snapshot());
    }

    @Test
    void copiesSoThatTheCopyLivesByItself() {
        var forecaster = forecaster();
        byte[] before = forecaster.snapshot();

        serializer.copy(forecaster).observe(Rates.of("other").next(7));

        assertThat(forecaster.snapshot()).isEqualTo(before);
    }

    @Test
    void knowsTheFormatOfASavepointBeforeItReadsIt() throws Exception {
        assertThat(compatible(StateWriter.FORMAT)).isTrue();
        assertThat(compatible(2)).isTrue();
        assertThat(compatible(1)).isFalse();
        assertThat(compatible(StateWriter.FORMAT + 1)).isFalse();
    }

    private static boolean compatible(int format) throws Exception {
        var written = new DataOutputSerializer(64);
        written.writeUTF(ForecasterStateSerializer.Snapshot.class.getName());
        written.writeInt(1);
        written.writeInt(format);
        TypeSerializerSnapshot<ServiceForecaster> old = TypeSerializerSnapshot.readVersionedSnapshot(
                new DataInputDeserializer(written.getCopyOfBuffer()),
                ForecasterStateSerializerTest.class.getClassLoader());
        return new ForecasterStateSerializer()
                .snapshotConfiguration()
                .resolveSchemaCompatibility(old)
                .isCompatibleAsIs();
    }

    private static ServiceForecaster forecaster() {
        var forecaster = new ServiceForecaster(ForecastSettings.DEFAULT, Rates.SERVICE, Rates.DOMAIN);
        var gateway = Rates.of("gateway");
        for (int window = 0; window < 50; window++) {
            forecaster.observe(gateway.next(window));
        }
        return forecaster;
    }
}
