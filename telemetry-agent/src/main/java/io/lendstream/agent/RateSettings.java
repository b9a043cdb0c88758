package io.lendstream.agent;

import io.lendstream.agent.publish.Outbox;
import io.lendstream.agent.rates.Endpoint;
import io.lendstream.agent.rates.Presets;
import io.lendstream.agent.rates.RateProbe;
import io.lendstream.agent.rates.Scraper;
import io.lendstream.agent.rates.ServiceNames;
import io.lendstream.agent.rates.Windows;
import io.lendstream.core.cluster.ServiceId;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Where and how requests are counted, as settings say. */
record RateSettings(Settings settings, Identity identity, List<Endpoint> endpoints, ServiceNames names) {
    /** Two readings this far apart make a window. */
    static final Duration BETWEEN_READINGS = Windows.SHORTEST.plusMillis(100);
    /** A gap of more than this many periods, and of more than a minute, is told as several windows. */
    private static final int LONGEST_PERIODS = 4;

    static RateSettings of(Settings settings, Identity identity) {
        try {
            Presets presets = settings.get(AgentKeys.RATE_PRESETS)
                    .map(file -> Presets.ours().and(file))
                    .orElseGet(Presets::ours);
            List<Endpoint> endpoints = settings.get(AgentKeys.RATE_ENDPOINTS).stream()
                    .map(text -> Endpoint.parse(text, presets))
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
            return new RateSettings(settings, identity, endpoints, names(settings));
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
                        "agent.rate-services has '%s', but must have NAME=SERVICE, such as meta-llama/Llama-3-8B=chat."
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

    RateWatch watch(Outbox outbox, MeterRegistry metrics) {
        if (endpoints.isEmpty()) {
            return new RateWatch(List.of(), outbox);
        }
        long largest = settings.get(AgentKeys.RATE_LARGEST);
        var scraper = new Scraper(
                settings.get(AgentKeys.RATE_TIMEOUT),
                (int) Math.min(Integer.MAX_VALUE - 8, largest),
                settings.get(AgentKeys.RATE_TOKEN_FILE));
        Duration periods = settings.get(AgentKeys.RATE_PERIOD).multipliedBy(LONGEST_PERIODS);
        Duration minute = Duration.ofMinutes(1);
        Duration longest = periods.compareTo(minute) > 0 ? periods : minute;
        var probes = new ArrayList<RateProbe>();
        for (Endpoint endpoint : endpoints) {
            var windows = new Windows(
                    endpoint.preset(),
                    names,
                    identity.domain(),
                    endpoint.source(identity.node().value()),
                    identity.boot(),
                    longest,
                    endpoint.profile());
            probes.add(new RateProbe(endpoint, scraper, windows, metrics, InstantSource.system(), System::nanoTime));
        }
        return new RateWatch(probes, outbox);
    }
}
