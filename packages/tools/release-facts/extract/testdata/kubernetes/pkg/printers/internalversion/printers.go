package internalversion

import "k8s.io/kubernetes/pkg/apis/shop"

var itemColumns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name"},
}

func AddHandlers(h printers.PrintHandler) {
	orderColumns := []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name"},
		{Name: "Weight", Type: "string", Priority: 1},
	}
	_ = h.TableHandler(orderColumns, printOrder)
	_ = h.TableHandler(itemColumns, printItem)
	_ = h.TableHandler(unknownColumns, printOther)
}

func printOrder(obj *shop.Order, options printers.GenerateOptions) ([]metav1.TableRow, error) {
	return nil, nil
}

func printItem(obj *shop.Item, options printers.GenerateOptions) ([]metav1.TableRow, error) {
	return nil, nil
}

func printOther(obj *shop.Other, options printers.GenerateOptions) ([]metav1.TableRow, error) {
	return nil, nil
}
