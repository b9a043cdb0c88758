package io.lendstream.core.latency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProbeChoiceTest {
    private static final Slice ONE = new Slice(1, 1);
    private static final Slice SEVEN = new Slice(7, 8);
    private static final Hinge TRUTH = new Hinge(Math.log(6), Math.log(4), Math.log(2), .5, .4, 0);

    private static LatencySample sample(Slice slice, int batch) {
        return new LatencySample(slice, batch, 1, Math.exp(TRUTH.logMillis(slice, batch, 1)));
    }

    private static double spreadAfter(List<LatencySample> known, ProbeChoice.Point probe, ProbeChoice.Point matters) {
        List<LatencySample> more = new ArrayList<>(known);
        more.add(sample(probe.slice(), probe.batch()));
        return LatencyFit.of(more, LatencyPrior.WIDE).spread(matters.slice(), matters.batch(), 1);
    }

    @Test
    void theChosenProbeTellsMoreThatMattersThanTheOthers() {
        List<LatencySample> known = List.of(sample(ONE, 1), sample(ONE, 8));
        LatencyModel model = LatencyFit.of(known, LatencyPrior.WIDE);
        ProbeChoice.Point matters = new ProbeChoice.Point(SEVEN, 64, 1);
        List<ProbeChoice.Point> candidates = List.of(
                new ProbeChoice.Point(ONE, 2, 1),
                new ProbeChoice.Point(SEVEN, 1, 1),
                new ProbeChoice.Point(SEVEN, 128, 1));

        ProbeChoice.Point chosen =
                ProbeChoice.next(model, candidates, Map.of(matters, 1.0)).orElseThrow();

        assertThat(chosen).isEqualTo(new ProbeChoice.Point(SEVEN, 128, 1));
        for (ProbeChoice.Point other : candidates) {
            assertThat(spreadAfter(known, chosen, matters)).isLessThanOrEqualTo(spreadAfter(known, other, matters));
        }
    }

    @Test
    void withoutCandidatesThereIsNone() {
        LatencyModel model = LatencyFit.of(List.of(sample(ONE, 1)), LatencyPrior.WIDE);

        assertThat(ProbeChoice.next(model, List.of(), Map.of())).isEmpty();
    }
}
