//! The facts of the leaf types of `planesmith-wire`, for fields of objects.

use planesmith_wire::duration::Duration;
use planesmith_wire::int_or_string::IntOrString;
use planesmith_wire::micro_time::MicroTime;
use planesmith_wire::quantity::Quantity;
use planesmith_wire::raw::{AnyJson, FieldsV1, RawExtension};
use planesmith_wire::time::Time;

use crate::facts::{ScalarFacts, TypeFacts};
use crate::scalar::Scalar;
use crate::value::{Shape, Slot, Value, View};

static TIME: ScalarFacts = ScalarFacts {
    go_name: "v1.Time",
    definition: "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
    openapi_type: "string",
    format: "date-time",
};

static MICRO_TIME: ScalarFacts = ScalarFacts {
    go_name: "v1.MicroTime",
    definition: "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
    openapi_type: "string",
    format: "date-time",
};

static DURATION: ScalarFacts = ScalarFacts {
    go_name: "v1.Duration",
    definition: "io.k8s.apimachinery.pkg.apis.meta.v1.Duration",
    openapi_type: "string",
    format: "",
};

static QUANTITY: ScalarFacts = ScalarFacts {
    go_name: "resource.Quantity",
    definition: "io.k8s.apimachinery.pkg.api.resource.Quantity",
    openapi_type: "string",
    format: "",
};

static INT_OR_STRING: ScalarFacts = ScalarFacts {
    go_name: "intstr.IntOrString",
    definition: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    openapi_type: "string",
    format: "int-or-string",
};

static RAW_EXTENSION: ScalarFacts = ScalarFacts {
    go_name: "runtime.RawExtension",
    definition: "io.k8s.apimachinery.pkg.runtime.RawExtension",
    openapi_type: "object",
    format: "",
};

static FIELDS_V1: ScalarFacts = ScalarFacts {
    go_name: "v1.FieldsV1",
    definition: "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
    openapi_type: "object",
    format: "",
};

static ANY_JSON: ScalarFacts = ScalarFacts {
    go_name: "v1.JSON",
    definition: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
    openapi_type: "",
    format: "",
};

/// Makes a type with a codec and [`Default`] a leaf with these [`ScalarFacts`].
macro_rules! leaf {
    ($type:ty, $facts:ident) => {
        impl Shape for $type {
            const TYPE: TypeFacts = TypeFacts::Scalar(&$facts);
        }

        impl Value for $type {
            fn view(&self) -> View<'_> {
                View::Scalar(self)
            }

            fn slot(&mut self) -> Slot<'_> {
                Slot::Scalar(self)
            }

            fn reset(&mut self) {
                *self = <$type>::default();
            }
        }

        impl Scalar for $type {
            fn facts(&self) -> &'static ScalarFacts {
                &$facts
            }
        }
    };
}

leaf!(Time, TIME);
leaf!(MicroTime, MICRO_TIME);
leaf!(Duration, DURATION);
leaf!(Quantity, QUANTITY);
leaf!(IntOrString, INT_OR_STRING);
leaf!(RawExtension, RAW_EXTENSION);
leaf!(FieldsV1, FIELDS_V1);
leaf!(AnyJson, ANY_JSON);

/// True if `scalar` is a field set.
pub(crate) fn is_field_set(scalar: &dyn Scalar) -> bool {
    std::ptr::eq(scalar.facts(), &raw const FIELDS_V1)
}
