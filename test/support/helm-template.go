// SPDX-License-Identifier: Apache-2.0

// Renders the templates of a chart with Go's text/template and sprig, as Helm does. Functions of Helm that the chart does not use are
// missing, so their use is an error.
//
//	helm-template CHART < VALUES
//
// Standard input and output are JSON: the data of the templates, and the text of each file.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func main() {
	if err := render(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(chart string) error {
	// Numbers become float64, as they do in Helm.
	var data map[string]interface{}
	if err := json.NewDecoder(os.Stdin).Decode(&data); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil {
		return err
	}
	set := template.New("chart").Option("missingkey=zero")
	set.Funcs(functions(set))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if _, err := set.New(filepath.Base(file)).Parse(string(text)); err != nil {
			return err
		}
	}
	rendered := map[string]string{}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "_") {
			continue
		}
		if rendered[name], err = executed(set, name, data); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(rendered)
}

func executed(set *template.Template, name string, data interface{}) (string, error) {
	var out bytes.Buffer
	if err := set.ExecuteTemplate(&out, name, data); err != nil {
		return "", err
	}
	// The text that Go writes for missing values.
	return strings.ReplaceAll(out.String(), "<no value>", ""), nil
}

func functions(set *template.Template) template.FuncMap {
	all := sprig.TxtFuncMap()
	// Helm has none of them: charts must not read the environment.
	delete(all, "env")
	delete(all, "expandenv")
	all["include"] = func(name string, data interface{}) (string, error) {
		return executed(set, name, data)
	}
	all["toYaml"] = func(value interface{}) (string, error) {
		var out bytes.Buffer
		encoder := yaml.NewEncoder(&out)
		encoder.SetIndent(2)
		err := encoder.Encode(value)
		return strings.TrimSuffix(out.String(), "\n"), err
	}
	return all
}
