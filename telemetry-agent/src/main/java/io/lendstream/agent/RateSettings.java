package io.lendstream.agent;

import io.lendstream.agent.kubernetes.OwnNode;
import io.lendstream.agent.publish.RecordSink;
import io.lendstream.agent.rates.Endpoint;
import io.lendstream.agent.rates.EndpointPresets;
import io.lendstream.agent.rates.RateProbe;
import io.lendstream.agent.rates.Scraper;
import io.lendstream.agent.rates.ServiceNames;
import io.lendstream.agent.rates.Windows;
import io.lendstream.core.id.ServiceId;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The settings of request counting. */
record RateSettings(
        Settings settings, Identity identity, EndpointPresets presets, List<Endpoint> endpoints, ServiceNames names) {
    /** The time between the two readings of a window. */
    static final Duration BETWEEN_READINGS = Windows.SHORTEST.plusMillis(100);
    /** A gap longer than this many periods, and longer than a minute, is split into several windows. */
    private static final int LONGEST_PERIODS = 4;

    static RateSettings of(Settings settings, Identity identity) {
        try {
            EndpointPresets presets = settings.get(AgentKeys.RATE_PRESETS)
                    .map(file -> EndpointPresets.ours().and(file))
                    .orElseGet(EndpointPresets::ours);
            List<Endpoint> endpoints = settings.get(AgentKeys.RATE_ENDPOINTS).stream()
                    .map(text -> Endpoint.parse(
                            text.replace("{node}", identity.node().value()), presets))
                    .filter(endpoint -> endpoint.reader()
                            .filter(reader -> !reader.equals(identity.node().value()))
                            .isEmpty())
                    .toList();
            var sources = new TreeMap<String, Endpoint>();
            for (Endpoint endpoint : endpoints) {
                Endpoint other = sources.put(endpoint.source(identity.node().value()), endpoint);
                if (other != null) {
                    throw new SettingsException(
                            "agent.rate-endpoints has %s and %s, which would count the same requests twice. Leave one of them out."
                                    .formatted(other.url(), endpoint.url()));
                }
            }
            return new RateSettings(settings, identity, presets, endpoints, names(settings));
        } catch (IllegalArgumentException e) {
            throw new SettingsException(String.valueOf(e.getMessage()), e);
        }
    }

    private static ServiceNames names(Settings settings) {
        Map<String, ServiceId> byLabel = new TreeMap<>();
        for (String pair : settings.get(AgentKeys.RATE_SERVICES)) {
            int equals = pair.lastIndexOf('=');
            if (equals < 1 || equals == pair.length() - 1) {
                throw new SettingsException(
                        "agent.rate-services has '%s', but entries must be NAME=SERVICE, such as meta-llama/Llama-3-8B=chat."
                                .formatted(pair));
            }
            byLabel.put(
                    pair.substring(0, equals).strip(),
                    new ServiceId(pair.substring(equals + 1).strip()));
        }
        String otherwise = settings.get(AgentKeys.RATE_SERVICE).strip();
        return new ServiceNames(
                byLabel,
                otherwise.isEmpty() ? Optional.empty() : Optional.of(new ServiceId(otherwise)),
                settings.get(AgentKeys.RATE_ONLY_NAMED));
    }

    /** @param node the node's pods; empty if the API server is not asked */
    RateWatch watch(RecordSink outbox, Optional<OwnNode> node, MeterRegistry metrics) {
        var probes = new ArrayList<RateProbe>();
        if (!endpoints.isEmpty()) {
            Scraper scraper = scraper(settings.get(AgentKeys.RATE_TOKEN_FILE));
            for (Endpoint endpoint : endpoints) {
                String source = endpoint.source(identity.node().value());
                probes.add(probe(endpoint, source, names, scraper, metrics));
            }
        }
        Set<URI> read = endpoints.stream().map(Endpoint::url).collect(Collectors.toSet());
        return new RateWatch(probes, node.map(known -> pods(known, read, metrics)), outbox);
    }

    /** Pods' annotations name the address, so the token for endpoints is never sent there. */
    private PodProbes pods(OwnNode node, Set<URI> read, MeterRegistry metrics) {
        Scraper scraper = scraper(Optional.empty());
        return new PodProbes(
                node::pods,
                read,
                Instant.now(),
                pod -> probe(
                        pod.endpoint(),
                        pod.source(identity.node().value()),
                        pod.service().map(ServiceNames::only).orElse(names),
                        scraper,
                        metrics),
                metrics);
    }

    private Scraper scraper(Optional<Path> token) {
        long largest = settings.get(AgentKeys.RATE_LARGEST);
        return new Scraper(settings.get(AgentKeys.RATE_TIMEOUT), (int) Math.min(Integer.MAX_VALUE - 8, largest), token);
    }

    private RateProbe probe(
            Endpoint endpoint, String source, ServiceNames called, Scraper scraper, MeterRegistry metrics) {
        Duration periods = settings.get(AgentKeys.RATE_PERIOD).multipliedBy(LONGEST_PERIODS);
        Duration minute = Duration.ofMinutes(1);
        var windows = new Windows(
                endpoint.preset(),
                called,
                identity.domain(),
                source,
                identity.boot(),
                periods.compareTo(minute) > 0 ? periods : minute,
                endpoint.on());
        return new RateProbe(endpoint, scraper, windows, metrics, InstantSource.system(), System::nanoTime);
    }
}
