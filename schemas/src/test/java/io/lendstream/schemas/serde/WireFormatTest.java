package io.lendstream.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.seeds.RandomValues;
import io.lendstream.core.seeds.Seeds;
import org.junit.jupiter.api.Test;

final class WireFormatTest {
    @Test
    void putsAZeroAndTheIdInFourBytesBeforeTheRecord() {
        assertThat(WireFormat.header(0x01020304)).containsExactly(0, 1, 2, 3, 4);
    }

    @Seeds
    void readsBackEveryId(RandomValues values) {
        int id = values.anyInt();

        assertThat(WireFormat.schemaId(WireFormat.header(id))).isEqualTo(id);
    }

    @Test
    void tooFewBytesAndTheWrongFirstByteAreDistinguished() {
        assertThatThrownBy(() -> WireFormat.schemaId(new byte[] {0, 1, 2}))
                .isInstanceOf(MalformedFrameException.class)
                .hasMessageContaining("at least 5 bytes")
                .hasMessageContaining("has 3");
        assertThatThrownBy(() -> WireFormat.schemaId("{\"gpu\":1}".getBytes(java.nio.charset.StandardCharsets.UTF_8)))
                .isInstanceOf(MalformedFrameException.class)
                .hasMessageContaining("starts with byte 123");
    }
}
