package io.lendstream.agent.rates;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.agent.exposition.Exposition;
import io.lendstream.agent.exposition.ExpositionException;
import io.lendstream.agent.exposition.Format;
import io.lendstream.agent.kubernetes.PodReader;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The readers of this package, with what each may say of a text that it cannot read. */
public final class RateReaders {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final EndpointPresets PRESETS = EndpointPresets.ours();
    private static final List<Preset> ALL = List.copyOf(PRESETS.all().values());
    private static final PodReader PODS = new PodReader(PRESETS, Set.of());
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private RateReaders() {}

    /** Readings of an endpoint, ten seconds apart. */
    public static void endpoint(int preset, List<String> texts) {
        var windows = new Windows(
                ALL.get(preset % ALL.size()),
                new ServiceNames(Map.of(), Optional.of(new ServiceId("the-only")), false),
                new DomainId("d"),
                "node/host:1",
                "boot",
                Duration.ofMinutes(1),
                ServedOn.WHOLE);
        int at = 0;
        for (String text : texts) {
            try {
                Exposition.parse(text, Format.TEXT);
            } catch (ExpositionException e) {
                // What the format does not allow.
            }
            List<Point> points;
            try {
                points = Exposition.parse(text).stream()
                        .flatMap(family -> family.samples().stream())
                        .map(sample -> new Point(sample.name(), sample.labels(), sample.value()))
                        .toList();
            } catch (ExpositionException e) {
                return;
            }
            windows.upTo(EndpointReading.of(START.plusSeconds(at), at * 1_000_000_000L, points));
            at += 10;
        }
    }

    public static void triton(String text) {
        try {
            TritonStatistics.read(text);
        } catch (UnreadableException e) {
            // No statistics.
        }
    }

    public static void pod(String text) {
        JsonNode pod;
        try {
            pod = JSON.readTree(text);
        } catch (JsonProcessingException e) {
            return;
        }
        try {
            PODS.apply(pod);
        } catch (IllegalArgumentException e) {
            // Annotations that cannot be followed.
        }
    }
}
