package v1

const GroupName = "shop.example.com"

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &Order{}, &OrderList{})
	return nil
}
