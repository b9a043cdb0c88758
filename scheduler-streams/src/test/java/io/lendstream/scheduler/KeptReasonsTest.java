package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.fixtures.Stories;
import io.lendstream.core.history.KeptInput;
import io.lendstream.core.history.KeptReason;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the topology keeps of decisions. */
class KeptReasonsTest {
    private final Loop loop = Loop.live();
    private List<KeptReason> atOnce = List.of();
    private List<KeptReason> kept = List.of();
    private List<Decision> decisions = List.of();
    private List<DomainEvent> log = List.of();

    @BeforeEach
    void play() {
        Scenario story = Stories.lending(60, 50);
        story.log().stream()
                .filter(event -> !(event.event() instanceof Tick) && !(event.event() instanceof SchedulerStarted))
                .forEach(event -> loop.tell(event.event()));
        atOnce = loop.read(TopicCatalogue.REASONS);
        decisions = loop.decisions();
        loop.pass(Duration.ofMillis(KeptReasons.WRITTEN_AFTER_MILLIS));
        kept = loop.read(TopicCatalogue.REASONS);
        log = loop.events();
    }

    @AfterEach
    void close() {
        loop.close();
    }

    @Test
    void areTheDecisionsWithoutRenewalsInTheirOrder() {
        assertThat(decisions).anyMatch(decision -> decision.action().asRenew().isPresent());
        assertThat(kept.stream().flatMap(reason -> reason.decision().stream()))
                .containsExactlyElementsOf(decisions.stream()
                        .filter(decision -> decision.action().asRenew().isEmpty())
                        .toList());
    }

    @Test
    void areWrittenASecondLater() {
        assertThat(atOnce).isEmpty();
        assertThat(kept).isNotEmpty();
    }

    @Test
    void describeTheEventsThatLedToTheDecision() {
        Map<Long, DomainEvent> events = new TreeMap<>();
        log.forEach(event -> events.put(event.sequence(), event));
        for (KeptReason reason : kept) {
            if (reason.decision().isPresent()) {
                assertThat(reason.inputs())
                        .extracting(KeptInput::sequence)
                        .isEqualTo(reason.decision().get().reason().inputs());
                for (KeptInput input : reason.inputs()) {
                    DomainEvent event = events.get(input.sequence());
                    assertThat(input.at()).isEqualTo(event.at());
                    assertThat(input.origin()).isEqualTo(event.origin());
                    assertThat(input.gist()).isNotBlank();
                }
            }
        }
        assertThat(kept.stream().flatMap(reason -> reason.inputs().stream()).map(KeptInput::gist))
                .anyMatch(gist -> gist.startsWith("45.0 requests/s offered to chat"));
    }

    @Test
    void haveTheNewestOfManyEvents() {
        List<Long> many = LongStream.rangeClosed(1, 900).boxed().toList();

        assertThat(KeptReasons.newest(many)).hasSize(20).startsWith(881L).endsWith(900L);
        assertThat(KeptReasons.newest(many.subList(0, 3))).containsExactly(1L, 2L, 3L);
    }

    @Test
    void haveNoAlternativesAtOnce() {
        assertThat(kept)
                .filteredOn(reason -> reason.decision().isPresent())
                .isNotEmpty()
                .allSatisfy(reason -> assertThat(reason.alternatives()).isEmpty());
    }
}
