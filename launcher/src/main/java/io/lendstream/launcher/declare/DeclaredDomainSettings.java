package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.scheduler.DeclarableSettings;
import io.lendstream.core.scheduler.DeclarableSettings.Form;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The settings of a domain. Their names are those of the scheduler's configuration, without {@code scheduler.}. */
final class DeclaredDomainSettings implements DeclaredKind<DomainSettings> {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    /** What each setting is, in the order of the page. */
    private static final Map<String, String> DOCS = docs();

    private static final List<SpecField<DomainSettings, String>> FIELDS = DOCS.entrySet().stream()
            .map(each -> field(each.getKey(), each.getValue()))
            .toList();

    private static final SpecFields<DomainSettings> SPEC =
            new SpecFields<>("settings of a domain", List.copyOf(FIELDS));

    private static Map<String, String> docs() {
        Map<String, String> docs = new LinkedHashMap<>();
        docs.put("policy", "Policy, as name:key=value; see `lendstream policies`.");
        docs.put("lending", "Lend idle inference GPUs to training.");
        docs.put("max-share-lent", "Largest lent share of inference GPUs, rounded down.");
        docs.put("max-loans-per-minute", "Most GPUs newly lent in a minute.");
        docs.put("max-transfers", "Most GPUs in transfer to or from training before a plan adds more.");
        docs.put("min-hold", "Time for which plans leave a changed job alone.");
        docs.put(
                "quiet-windows", "Times of the week (UTC) without plans, such as mon-fri 17:30-18:30, between commas.");
        docs.put("trust-share", "Largest lent share of inference GPUs at the level of trust 'share'.");
        docs.put("trust-step-after", "Time without a late reclaim after which the level of trust may be raised.");
        docs.put("slo-extra", "Most replicas beyond its load of a service that misses its SLO, as a share of them.");
        docs.put("slo-withhold", "Time for which GPUs that a service left are not lent after it missed its SLO.");
        docs.put("waiting-first", "Requests that wait come before expected ones, with a policy that uses forecasts.");
        docs.put("afe", "Elastic jobs change GPUs in place; if false, every change restarts the job.");
        docs.put("bind-deadline", "Deadline for an actuator to bind a GPU to a job.");
        docs.put("foreign-gone-after", "Time for which agents report a foreign GPU as unused until it is free.");
        docs.put(
                "quarantine-evidence",
                "Time for which agent and actuator report nothing on a quarantined GPU until it is free. 0s: a reset frees it.");
        docs.put("learn", "Reckon with measured start-up times instead of declared ones.");
        docs.put(
                "remember-profiles",
                "With learn: time without use for which profiles of an application are kept without its jobs. 0s: none.");
        return docs;
    }

    private static SpecField<DomainSettings, String> field(String name, String doc) {
        Form form = Optional.ofNullable(DeclarableSettings.forms().get(name)).orElseThrow();
        return SpecField.optional(
                name,
                form(form),
                declared -> Optional.ofNullable(declared.settings().get(name)),
                doc + " Without it, scheduler.%s of the configuration.".formatted(name));
    }

    /** A value as its text in records; in files it is written as in the configuration. */
    private static ValueForm<String> form(Form form) {
        return switch (form) {
            case FLAG ->
                new ScalarForm<>(
                        "true or false",
                        text -> Optional.of(text).filter(form::reads),
                        text -> JSON.booleanNode(text.equals("true")),
                        () -> ScalarForms.typed("boolean"));
            case SHARE, FACTOR -> {
                int most = form == Form.SHARE ? 1 : 10;
                yield new ScalarForm<>(
                        "a number from 0 to %d".formatted(most),
                        text -> Optional.of(text)
                                .filter(form::reads)
                                .map(some -> Double.toString(Double.parseDouble(some))),
                        text -> JSON.numberNode(Double.parseDouble(text)),
                        () -> ScalarForms.typed("number").put("minimum", 0).put("maximum", most));
            }
            case COUNT, POSITIVE -> {
                int least = form == Form.COUNT ? 0 : 1;
                yield new ScalarForm<>(
                        "a whole number of at least %d".formatted(least),
                        text -> Optional.of(text)
                                .filter(form::reads)
                                .map(some -> Integer.toString(Integer.parseInt(some))),
                        text -> JSON.numberNode(Integer.parseInt(text)),
                        () -> ScalarForms.typed("integer").put("minimum", least));
            }
            case TIME, PERIOD ->
                new ScalarForm<>(
                        "a length of time such as 30s or 10m, from %s to 366d"
                                .formatted(form == Form.TIME ? "0s" : "1s"),
                        text -> Units.duration(text).map(Duration::toString).filter(form::reads),
                        text -> JSON.textNode(Units.text(Duration.parse(text))),
                        DeclaredDomainSettings::timeSchema);
            case TEXT -> new ScalarForm<>("a text", Optional::of, JSON::textNode, () -> ScalarForms.typed("string"));
        };
    }

    private static ObjectNode timeSchema() {
        return ScalarForms.typed("string").put("pattern", ScalarForms.TIME_PATTERN);
    }

    @Override
    public String name() {
        return "DomainSettings";
    }

    @Override
    public String word() {
        return "domainsettings";
    }

    @Override
    public List<String> spellings() {
        return List.of("domainsettings", "domain-settings");
    }

    @Override
    public String doc() {
        return "Settings that a domain has instead of those of the scheduler's configuration. Its name is that of the domain.";
    }

    @Override
    public boolean isNamedByDomain() {
        return true;
    }

    @Override
    public Optional<String> againstField(String field) {
        boolean isOfSite = SchedulerSettings.keys().contains(field)
                && !DeclarableSettings.forms().containsKey(field);
        return isOfSite
                ? Optional.of(
                        "cannot be declared for a domain. Set scheduler.%s in the configuration of the scheduler, or leave it out."
                                .formatted(field))
                : Optional.empty();
    }

    @Override
    public Topic<DomainSettings> topic() {
        return TopicCatalogue.DOMAIN_SETTINGS;
    }

    @Override
    public SpecFields<DomainSettings> spec() {
        return SPEC;
    }

    @Override
    public DomainSettings build(ObjectName name, Instant at, SpecValues values, Optional<DomainSettings> before) {
        Map<String, String> settings = new TreeMap<>();
        FIELDS.forEach(field -> values.find(field).ifPresent(text -> settings.put(field.name(), text)));
        DomainSettings declared = new DomainSettings(name.domain(), at, settings);
        DeclarableSettings.problem(declared).ifPresent(why -> {
            throw new IllegalArgumentException(why);
        });
        return declared;
    }

    @Override
    public String nameOf(DomainSettings settings) {
        return settings.domain().value();
    }

    @Override
    public Optional<QueueId> queueOf(DomainSettings settings) {
        return Optional.empty();
    }

    @Override
    public boolean isRemoved(DomainSettings settings) {
        return settings.removed();
    }

    @Override
    public List<Column<DomainSettings>> columns() {
        return List.of(
                new Column<>(
                        "SETTINGS",
                        false,
                        settings -> Integer.toString(settings.settings().size())),
                new Column<>("VALUES", true, DeclaredDomainSettings::values));
    }

    private static String values(DomainSettings settings) {
        ObjectNode written = SPEC.write(settings);
        List<String> values = new ArrayList<>();
        written.properties()
                .forEach(
                        each -> values.add(each.getKey() + "=" + each.getValue().asText()));
        return String.join(",", values);
    }
}
