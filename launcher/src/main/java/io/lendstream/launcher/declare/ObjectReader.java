package io.lendstream.launcher.declare;

import static io.lendstream.launcher.declare.DeclarationFile.API_VERSION;
import static io.lendstream.launcher.declare.DeclarationFile.FIELDS;
import static io.lendstream.launcher.declare.DeclarationFile.KIND;
import static io.lendstream.launcher.declare.DeclarationFile.METADATA;
import static io.lendstream.launcher.declare.DeclarationFile.SPEC;
import static io.lendstream.launcher.declare.DeclarationFile.STATUS;

import io.lendstream.core.event.Event;
import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.operation.ObjectStates;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads the objects of files and checks each by itself. Every document is read, so that all errors are shown. */
final class ObjectReader {
    /** The domain of an object that names none. */
    static final DomainId USUAL_DOMAIN = new DomainId("default");

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
    private final List<String> problems = new ArrayList<>();
    /** The place of each object, by its kind and name. */
    private final Map<String, ValuePlace> places = new HashMap<>();

    /** Reads the documents of a file. */
    void read(String file, String text) {
        List<DeclarationFile.Document> documents;
        try {
            documents = DeclarationFile.read(file, text);
        } catch (UserError e) {
            problems.add(String.valueOf(e.getMessage()));
            return;
        }
        if (documents.isEmpty()) {
            problems.add("%s has no object; add a document with %s.".formatted(file, String.join(", ", FIELDS)));
        }
        for (DeclarationFile.Document document : documents) {
            try {
                take(object(document));
            } catch (UserError e) {
                problems.add(String.valueOf(e.getMessage()));
            }
        }
    }

    /** The objects without an error, in the order of the files. */
    List<DeclaredObject<?>> objects() {
        return List.copyOf(objects);
    }

    /** The errors, each a line. */
    List<String> problems() {
        return List.copyOf(problems);
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
        values.forEach((name, value) -> {
            if (!FIELDS.contains(name) && !name.equals(STATUS)) {
                throw root.unknown(name, value, FIELDS);
            }
        });
        if (values.get(STATUS) instanceof SourceValue.Fields status) {
            refuseDeleted(status, root.field(STATUS, status));
        }
        SourceValue version = require(values, root, API_VERSION, DeclaredKind.API_VERSION);
        if (!(version instanceof SourceValue.Scalar text && text.text().equals(DeclaredKind.API_VERSION))) {
            throw root.field(API_VERSION, version).mustBe(version, DeclaredKind.API_VERSION);
        }
        return object(kind(values, root), document, root);
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

    private static <T extends Event> DeclaredObject<T> object(
            DeclaredKind<T> kind, DeclarationFile.Document document, ValuePlace root) {
        Map<String, SourceValue> values = document.root().values();
        SourceValue metadata = require(values, root, METADATA, METADATA_FIELDS.takes());
        SpecValues names = METADATA_FIELDS.read(metadata, root.field(METADATA, metadata));
        ObjectName name = name(kind, names, metadata, root);
        ValuePlace place = root.of(kind.shown(name.value()));
        SourceValue spec = require(values, place, SPEC, kind.spec().takes());
        ValuePlace ofSpec = place.field(SPEC, spec);
        checkFields(kind, spec, ofSpec);
        var object = new DeclaredObject<>(kind, name, kind.spec().read(spec, ofSpec), ofSpec);
        object.record(Instant.EPOCH, Optional.empty());
        return object;
    }

    private static void checkFields(DeclaredKind<?> kind, SourceValue spec, ValuePlace place) {
        if (spec instanceof SourceValue.Fields fields) {
            fields.values()
                    .forEach((field, value) -> kind.againstField(field).ifPresent(why -> {
                        ValuePlace ofField = place.field(field, value);
                        throw ofField.bad("%s is %s, but %s".formatted(ofField.path(), value.shown(), why));
                    }));
        }
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
