package io.lendstream.schemas.topics;

import io.lendstream.schemas.registry.Compatibility;
import io.lendstream.schemas.registry.CompatibilityLevel;
import io.lendstream.schemas.registry.IncompatibleSchemaException;
import io.lendstream.schemas.registry.RegisteredSchema;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.SchemaNotFoundException;
import io.lendstream.schemas.topics.SubjectReport.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.SchemaCompatibilityType;

/**
 * The schemas of all topics in a registry. Every subject uses {@link CompatibilityLevel#FULL_TRANSITIVE}: records are
 * kept for months, so old readers meet new records and new readers old ones.
 */
public final class SchemaSet {
    private final RegistryClient registry;
    private final TopicCatalogue catalogue;
    private final Function<Topic<?>, Schema> schemas;

    public SchemaSet(RegistryClient registry, TopicCatalogue catalogue) {
        this(registry, catalogue, topic -> WireSchemas.of(topic.recordName()));
    }

    /** A set with other schemas than this version's; for tests of upgrades. */
    SchemaSet(RegistryClient registry, TopicCatalogue catalogue, Function<Topic<?>, Schema> schemas) {
        this.registry = registry;
        this.catalogue = catalogue;
        this.schemas = schemas;
    }

    /** Registers missing, compatible schemas; may be repeated at any time. */
    public List<SubjectReport> register() {
        return catalogue.everyName().stream().map(this::register).toList();
    }

    /** Compares with every version in the registry, without changes. */
    public List<SubjectReport> check() {
        return catalogue.everyName().stream().map(this::check).toList();
    }

    /** Fetches every version from the registry, so that records can be read while it does not answer. */
    public void learn() {
        catalogue.everyName().forEach(named -> registry.learn(TopicCatalogue.subject(named.name())));
    }

    /** Does so for one topic, including the same topic of every intake. */
    public void learn(Topic<?> topic) {
        catalogue.names(topic).forEach(name -> registry.learn(TopicCatalogue.subject(name)));
    }

    private SubjectReport register(TopicCatalogue.Named named) {
        String subject = TopicCatalogue.subject(named.name());
        Schema schema = schemas.apply(named.topic());
        SubjectReport before = check(named);
        if (!before.fine()) {
            return before;
        }
        boolean levelSet = setLevelIfSubjectIsKnown(subject);
        try {
            int id = registry.register(subject, schema);
            if (!levelSet) {
                registry.setCompatibility(subject, CompatibilityLevel.FULL_TRANSITIVE);
            }
            Status status = before.status() == Status.PRESENT ? Status.PRESENT : Status.NEW_VERSION;
            return new SubjectReport(subject, status, OptionalInt.of(id), List.of());
        } catch (IncompatibleSchemaException e) {
            return new SubjectReport(subject, Status.INCOMPATIBLE, OptionalInt.empty(), List.of(e.getMessage()));
        }
    }

    /** Some registries keep a level only for subjects with a version; there it is set after the first registration. */
    private boolean setLevelIfSubjectIsKnown(String subject) {
        try {
            registry.setCompatibility(subject, CompatibilityLevel.FULL_TRANSITIVE);
            return true;
        } catch (SchemaNotFoundException e) {
            return false;
        }
    }

    private SubjectReport check(TopicCatalogue.Named named) {
        String subject = TopicCatalogue.subject(named.name());
        Schema ours = schemas.apply(named.topic());
        List<Integer> versions = registry.versions(subject);
        if (versions.isEmpty()) {
            return new SubjectReport(subject, Status.ABSENT, OptionalInt.empty(), List.of());
        }
        List<String> messages = new ArrayList<>();
        OptionalInt id = OptionalInt.empty();
        for (int number : versions) {
            RegisteredSchema version = registry.version(subject, number);
            if (version.schema().equals(ours)) {
                id = OptionalInt.of(version.id());
            }
            mismatch(version.schema(), ours)
                    .forEach(text ->
                            messages.add("version %d cannot read records of this version: %s".formatted(number, text)));
            mismatch(ours, version.schema())
                    .forEach(text ->
                            messages.add("this version cannot read records of version %d: %s".formatted(number, text)));
        }
        if (!messages.isEmpty()) {
            return new SubjectReport(subject, Status.INCOMPATIBLE, OptionalInt.empty(), messages);
        }
        if (id.isPresent()) {
            return new SubjectReport(subject, Status.PRESENT, id, levelMessages(subject));
        }
        Compatibility verdict = registry.check(subject, ours);
        return new SubjectReport(
                subject,
                verdict.compatible() ? Status.NEW_VERSION : Status.INCOMPATIBLE,
                OptionalInt.empty(),
                verdict.compatible() ? levelMessages(subject) : verdict.messages());
    }

    private List<String> levelMessages(String subject) {
        String level = registry.compatibility(subject).map(Enum::name).orElse("not set");
        return level.equals(CompatibilityLevel.FULL_TRANSITIVE.name())
                ? List.of()
                : List.of("compatibility is %s, not %s; 'lendstream schemas register' sets it"
                        .formatted(level, CompatibilityLevel.FULL_TRANSITIVE));
    }

    private static List<String> mismatch(Schema reader, Schema writer) {
        SchemaCompatibility.SchemaCompatibilityResult result = SchemaCompatibility.checkReaderWriterCompatibility(
                        reader, writer)
                .getResult();
        return result.getCompatibility() == SchemaCompatibilityType.COMPATIBLE
                ? List.of()
                : result.getIncompatibilities().stream()
                        .map(one -> "%s at %s: %s".formatted(one.getType(), one.getLocation(), one.getMessage()))
                        .toList();
    }
}
