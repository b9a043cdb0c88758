package io.lendstream.launcher.declare;

import static io.lendstream.launcher.declare.DeclarationFile.API_VERSION;
import static io.lendstream.launcher.declare.DeclarationFile.FIELDS;
import static io.lendstream.launcher.declare.DeclarationFile.KIND;
import static io.lendstream.launcher.declare.DeclarationFile.METADATA;
import static io.lendstream.launcher.declare.DeclarationFile.SPEC;
import static io.lendstream.launcher.declare.DeclarationFile.STATUS;

import io.lendstream.core.event.Event;
import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.operation.ObjectStates;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads the objects of files and checks each by itself. Every document is read, so that all errors are shown. */
final class ObjectReader {
    /** The domain of an object that names none. */
    static final DomainId USUAL_DOMAIN = new DomainId("default");

    /** Of an object whose own name is wrong: it is never used. */
    private static final ObjectName NO_NAME = new ObjectName("unnamed", USUAL_DOMAIN);

    private static final SpecField<ObjectName, String> NAME = SpecField.mandatory(
            "name", ScalarForms.name(), ObjectName::value, "Its name, unique in its kind, also across domains.");
    private static final SpecField<ObjectName, DomainId> DOMAIN = SpecField.defaulted(
            "domain",
            ScalarForms.id(DomainId::new, DomainId::value),
            USUAL_DOMAIN,
            ObjectName::domain,
            "The domain in which its GPUs are. It cannot be changed.");

    /** The fields of {@code metadata}. */
    static final SpecFields<ObjectName> METADATA_FIELDS = new SpecFields<>("metadata", List.of(NAME, DOMAIN));

    private final List<DeclaredObject<?>> objects = new ArrayList<>();
    private final ProblemList problems = new ProblemList();
    /** The place of each object, by its kind and name. */
    private final Map<String, ValuePlace> places = new HashMap<>();

    /** Reads the documents of a file. */
    void read(String file, String text) {
        int before = problems.all().size();
        List<DeclarationFile.Document> documents = problems.attempt(() -> DeclarationFile.read(file, text, problems))
                .orElse(List.of());
        if (documents.isEmpty() && problems.all().size() == before) {
            problems.add("%s has no object; add a document with %s.".formatted(file, String.join(", ", FIELDS)));
        }
        documents.forEach(document -> problems.check(() -> take(object(document))));
    }

    /** The objects without an error, in the order of the files. */
    List<DeclaredObject<?>> objects() {
        return List.copyOf(objects);
    }

    /** The errors, each a line. */
    List<String> problems() {
        return problems.all();
    }

    private void take(DeclaredObject<?> object) {
        ValuePlace earlier = places.putIfAbsent(object.shown(), object.place());
        if (earlier != null) {
            throw object.place()
                    .bad("%s is declared twice, first in %s, line %d; leave one out."
                            .formatted(object.shown(), earlier.file(), earlier.line()));
        }
        objects.add(object);
    }

    private static DeclaredObject<?> object(DeclarationFile.Document document) {
        ValuePlace root = document.place();
        Map<String, SourceValue> values = document.root().values();
        ProblemList problems = new ProblemList();
        values.forEach((name, value) -> problems.check(() -> {
            if (!FIELDS.contains(name) && !name.equals(STATUS)) {
                throw root.unknown(name, value, FIELDS);
            }
        }));
        if (values.get(STATUS) instanceof SourceValue.Fields status) {
            problems.check(() -> refuseDeleted(status, root.field(STATUS, status)));
        }
        problems.check(() -> checkVersion(values, root));
        Optional<DeclaredKind<?>> kind = problems.attempt(() -> kind(values, root));
        if (kind.isEmpty()) {
            problems.stop(); // the kind tells the fields of all else
        }
        return object(kind.orElseThrow(), document, root, problems);
    }

    private static void checkVersion(Map<String, SourceValue> values, ValuePlace root) {
        SourceValue version = require(values, root, API_VERSION, DeclaredKind.API_VERSION);
        if (!(version instanceof SourceValue.Scalar text && text.text().equals(DeclaredKind.API_VERSION))) {
            throw root.field(API_VERSION, version).mustBe(version, DeclaredKind.API_VERSION);
        }
    }

    /** What was shown while it was deleted is not declared again by mistake. */
    private static void refuseDeleted(SourceValue.Fields status, ValuePlace place) {
        if (status.values().get("state") instanceof SourceValue.Scalar state
                && state.text().equals(ObjectStates.DELETING)) {
            throw place.bad(
                    "status.state is deleting: the object was being deleted when it was shown. Leave it out, or remove status to declare it again.");
        }
    }

    private static DeclaredKind<?> kind(Map<String, SourceValue> values, ValuePlace root) {
        String known = String.join(" or ", DeclaredKinds.NAMES);
        SourceValue kind = require(values, root, KIND, known);
        String text = kind instanceof SourceValue.Scalar scalar ? scalar.text() : "";
        return DeclaredKinds.named(text).orElseThrow(() -> {
            List<String> near = ValuePlace.nearest(text, DeclaredKinds.NAMES);
            return root.field(KIND, kind)
                    .withWayOut(near.isEmpty() ? "Change it." : "Did you mean %s?".formatted(near.get(0)))
                    .mustBe(kind, known);
        });
    }

    /** @param problems the errors so far: those of metadata and spec are added, and all are thrown together */
    private static <T extends Event> DeclaredObject<T> object(
            DeclaredKind<T> kind, DeclarationFile.Document document, ValuePlace root, ProblemList problems) {
        Map<String, SourceValue> values = document.root().values();
        Optional<ObjectName> name = problems.attempt(() -> {
            SourceValue metadata = require(values, root, METADATA, METADATA_FIELDS.takes());
            SpecValues names = METADATA_FIELDS.read(metadata, root.field(METADATA, metadata));
            return name(kind, names, metadata, root);
        });
        ValuePlace place = name.map(known -> root.of(kind.shown(known.value()))).orElse(root);
        Optional<DeclaredObject<T>> object = problems.attempt(() -> {
            SourceValue spec = require(values, place, SPEC, kind.spec().takes());
            ValuePlace ofSpec = place.field(SPEC, spec);
            SpecValues read = kind.spec().read(declarable(kind, spec, ofSpec, problems), ofSpec);
            return new DeclaredObject<>(kind, name.orElse(NO_NAME), read, ofSpec);
        });
        problems.stop();
        object.orElseThrow().record(Instant.EPOCH, Optional.empty());
        return object.orElseThrow();
    }

    /** The spec without the fields that its kind refuses with a reason of its own, which is noted. */
    private static SourceValue declarable(
            DeclaredKind<?> kind, SourceValue spec, ValuePlace place, ProblemList problems) {
        if (!(spec instanceof SourceValue.Fields fields)) {
            return spec;
        }
        Map<String, SourceValue> rest = new LinkedHashMap<>(fields.values());
        fields.values()
                .forEach((field, value) -> kind.againstField(field).ifPresent(why -> {
                    rest.remove(field);
                    ValuePlace ofField = place.field(field, value);
                    problems.check(() -> {
                        throw ofField.bad("%s is %s, but %s".formatted(ofField.path(), value.shown(), why));
                    });
                }));
        return new SourceValue.Fields(rest, fields.line());
    }

    private static ObjectName name(DeclaredKind<?> kind, SpecValues names, SourceValue metadata, ValuePlace root) {
        String name = names.get(NAME);
        if (!kind.isNamedByDomain()) {
            return new ObjectName(name, names.get(DOMAIN));
        }
        DomainId domain = new DomainId(name);
        boolean isGiven =
                metadata instanceof SourceValue.Fields fields && fields.values().containsKey(DOMAIN.name());
        if (isGiven && !names.get(DOMAIN).equals(domain)) {
            throw root.of(kind.shown(name))
                    .bad(
                            "metadata.domain is %s, but %s are named like their domain, %s. Leave metadata.domain out, or change the name."
                                    .formatted(names.get(DOMAIN), kind.name(), name));
        }
        return new ObjectName(name, domain);
    }

    private static SourceValue require(
            Map<String, SourceValue> values, ValuePlace place, String field, String allowed) {
        SourceValue value = values.get(field);
        if (value == null) {
            throw place.missing(field, allowed);
        }
        return value;
    }
}
