package io.lendstream.actuator.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RendezvousPortsTest {
    private final RendezvousPorts ports = RendezvousPorts.of("29500-29999").orElseThrow();

    @Test
    void jobsWithDifferentFirstGpusNeverMeet() {
        Set<Integer> taken = new HashSet<>();
        for (int gpu = 0; gpu < 16; gpu++) {
            int index = gpu;
            Set<Integer> own = new HashSet<>(IntStream.range(0, 1000)
                    .map(sequence -> ports.port(index, sequence))
                    .boxed()
                    .toList());
            assertThat(own).hasSize(31).allMatch(port -> port >= 29500 && port <= 29999);
            assertThat(taken).doesNotContainAnyElementsOf(own);
            taken.addAll(own);
        }
    }

    @Test
    void theNextDecisionHasAnotherPort() {
        assertThat(ports.port(3, 17)).isNotEqualTo(ports.port(3, 18)).isEqualTo(ports.port(3, 17 + 31));
        assertThat(ports.port(0, Long.MAX_VALUE)).isBetween(29500, 29530);
    }

    @Test
    void aRangeThatIsTooSmallOrOutOfBoundsIsNone() {
        assertThat(RendezvousPorts.of("29500-29514")).isEmpty();
        assertThat(RendezvousPorts.of("29500-29515")).isPresent();
        assertThat(RendezvousPorts.of("80-2000")).isEmpty();
        assertThat(RendezvousPorts.of("65000-65600")).isEmpty();
        assertThat(RendezvousPorts.of("29999-29500")).isEmpty();
        assertThat(RendezvousPorts.of("29500")).isEmpty();
        assertThat(RendezvousPorts.of("")).isEmpty();
    }
}
